"use strict";
// Typing needs no click: the terminal gets the focus when the app has drawn, and keeps it.
const focusTerminal = () => document.querySelector(".xterm-helper-textarea")?.focus();
new MutationObserver(() => {
  if (document.body.classList.contains("-first-byte")) focusTerminal();
}).observe(document.body, { attributeFilter: ["class"] });
document.addEventListener("click", focusTerminal);
