"use strict";
// What the terminal of textual-serve lacks: it keeps its app over a reload and a dropped connection, and takes the focus.
// Its script has no interface for that, but opens a WebSocket: this one.
(() => {
  const NativeSocket = window.WebSocket;
  const STORED = "harness-page"; // of this tab; survives a reload, not the tab
  const RETRY_MS = [50, 200, 500, 1000];
  const GIVE_UP_MS = 35000; // a little longer than the grace time of the server
  const MOST_WAITING = 1000;
  const UNKNOWN = 4404;
  const ENDINGS = {
    1000: "The app has ended.",
    1002: "The connection was refused, and the app has ended.",
    1003: "The connection was refused, and the app has ended.",
    1007: "The connection was refused, and the app has ended.",
    1009: "Too much text at once; the app has ended. `harness -c` continues the conversation.",
    4404: "This page was away too long, and its app has ended. `harness -c` continues the conversation.",
    4409: "The app of this page is open in another tab.",
  };
  const LOST = "`harness serve` does not respond; it may have ended. `harness -c` continues the conversation.";

  const input = () => document.querySelector(".xterm-helper-textarea");
  const focus = () => input()?.focus();

  // A duplicated tab has a copy of the storage, but only one page can have the lock. The page before a reload may need a
  // moment to release it.
  function lock(secret) {
    return new Promise((resolve) => {
      const held = () => { resolve(true); return new Promise(() => {}); };
      navigator.locks.request(`${STORED} ${secret}`, { signal: AbortSignal.timeout(1000) }, held)
        .catch(() => resolve(false));
    });
  }

  class ResumingSocket extends EventTarget {
    #address;
    #socket;
    #secret = null;
    #size = null;
    #waiting = [];
    #ready = false; // greeted by the server on the present connection
    #shown = false; // greeted since the page was loaded
    #lostAt = null;
    #tries = 0;

    constructor(address) {
      super();
      this.#address = new URL(address);
      focus();
      this.#begin();
    }

    send(text) {
      if (text.startsWith('["resize"')) this.#size = JSON.parse(text)[1];
      if (this.#ready) this.#socket.send(text);
      else if (text.startsWith('["stdin"') && this.#waiting.length < MOST_WAITING) this.#waiting.push(text);
    }

    async #begin() {
      const secret = sessionStorage.getItem(STORED);
      if (secret && (await lock(secret))) this.#secret = secret;
      this.#connect();
    }

    #connect() {
      const address = new URL(this.#address);
      if (this.#secret) address.searchParams.set("page", this.#secret);
      if (this.#size) for (const side of ["width", "height"]) address.searchParams.set(side, this.#size[side]);
      const socket = new NativeSocket(address);
      this.#socket = socket;
      socket.binaryType = "arraybuffer";
      socket.addEventListener("message", ({ data }) => {
        const [kind, content] = typeof data === "string" ? JSON.parse(data) : [];
        if (kind === "page") this.#greeted(content);
        else this.dispatchEvent(new MessageEvent("message", { data }));
      });
      socket.addEventListener("close", ({ code }) => this.#closed(code));
    }

    #greeted(secret) {
      if (secret !== this.#secret) {
        this.#secret = secret;
        sessionStorage.setItem(STORED, secret);
        lock(secret);
      }
      this.#ready = this.#shown = true;
      this.#lostAt = null;
      this.#tries = 0;
      document.body.classList.remove("-lost");
      this.dispatchEvent(new Event("open"));
      const focused = document.hasFocus() && document.activeElement === input();
      this.#socket.send(JSON.stringify([focused ? "focus" : "blur"]));
      this.#waiting.splice(0).forEach((text) => this.#socket.send(text));
    }

    #closed(code) {
      this.#ready = false;
      if (code === UNKNOWN && !this.#shown) {
        this.#secret = null; // of an app that ended before this page was loaded
        this.#connect();
        return;
      }
      if (code in ENDINGS) return this.#end(ENDINGS[code]);
      const now = performance.now();
      this.#lostAt ??= now;
      if (now - this.#lostAt > GIVE_UP_MS) return this.#end(LOST);
      const wait = RETRY_MS[Math.min(this.#tries++, RETRY_MS.length - 1)];
      if (this.#tries > 2) document.body.classList.add("-lost");
      setTimeout(() => this.#connect(), wait);
    }

    #end(sentence) {
      sessionStorage.removeItem(STORED);
      document.body.classList.remove("-lost");
      document.querySelector(".closed span").textContent = sentence;
      this.dispatchEvent(new Event("close"));
    }
  }
  window.WebSocket = ResumingSocket;
  document.addEventListener("click", focus);
})();
