"use strict";
// Shows one step at a time. Without this script all steps are listed.
(() => {
  const run = document.getElementById("run");
  if (run === null) return;
  const steps = [...run.querySelectorAll(".step")];
  const marks = [...run.querySelectorAll(".to-step")];
  const map = run.querySelector(".map");
  const bar = run.querySelector(".bar");
  const slider = bar.querySelector("[type=range]");
  const all = bar.querySelector(".all");
  const [previous, next] = [bar.querySelector(".previous"), bar.querySelector(".next")];
  const language = document.querySelector("a.language");
  const languageAddress = language.getAttribute("href");
  let place = 1;

  function show(wanted) {
    place = Math.min(Math.max(wanted, 1), steps.length);
    steps.forEach((step, index) => step.classList.toggle("current", index + 1 === place));
    marks.forEach((mark) => mark.classList.toggle("current", mark.getAttribute("href") === `#step-${place}`));
    for (const listing of steps[place - 1].querySelectorAll("pre.listing")) {
      const line = listing.querySelector(".marked");
      if (line) listing.scrollTop = Math.max(0, line.offsetTop - listing.clientHeight / 3);
    }
    const mark = marks.find((one) => one.classList.contains("current"));
    if (mark) map.scrollTop = mark.getBBox().y - map.clientHeight / 2;
    slider.value = place;
    slider.setAttribute("aria-valuetext", steps[place - 1].querySelector("h3").textContent);
    bar.querySelector("output").textContent = `${place} / ${steps.length}`;
    previous.disabled = place === 1;
    next.disabled = place === steps.length;
  }

  function go(wanted) {
    show(wanted);
    history.replaceState(null, "", `#step-${place}`);
    linkLanguage();
    steps[place - 1].scrollIntoView({ block: "start" });
  }

  function linkLanguage() {
    language.setAttribute("href", languageAddress + location.hash);
  }

  function follow() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    const step = target?.closest(".step");
    if (step) {
      show(steps.indexOf(step) + 1);
      target.scrollIntoView({ block: "start" });
    }
    linkLanguage();
  }

  function fit() {
    document.documentElement.style.scrollPaddingTop = `${bar.offsetHeight + 8}px`;
  }

  slider.addEventListener("input", () => go(slider.valueAsNumber));
  previous.addEventListener("click", () => go(place - 1));
  next.addEventListener("click", () => go(place + 1));
  all.addEventListener("change", () => {
    run.classList.toggle("stepwise", !all.checked);
    steps[place - 1].scrollIntoView({ block: "start" });
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const held = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (by === undefined || held || event.target.closest("input, pre, .table, .map")) return;
    event.preventDefault();
    go(place + by);
  });
  window.addEventListener("hashchange", follow);
  window.addEventListener("resize", fit);

  bar.hidden = false;
  run.classList.add("stepwise");
  show(1);
  fit();
  follow();
})();
