/* Heat maps of weights between 0 and 1: as tables that can be walked through, and as thumbnails. */
"use strict";

const Heat = (() => {
  const WHOLE = 10000; // weights come as integers, in ten-thousandths
  const STEPS = 200;
  const INKS = [[0, 0, 0], [255, 255, 255]]; // one of them has a contrast of 4.58 on any ground
  let shades = null;

  function channels(name) {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name);
    return value.trim().split(/\s+/).map(Number);
  }

  /* Relative luminance and contrast as WCAG 2 defines them. */
  function luminance(color) {
    const [r, g, b] = color.map((channel) => {
      const share = channel / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  /* The shade grows with the square root, so that small weights can be seen. */
  function makeShades() {
    const none = channels("--heat-none");
    const full = channels("--heat-full");
    shades = Array.from({ length: STEPS + 1 }, (_, step) => {
      const share = Math.sqrt(step / STEPS);
      const color = none.map((channel, i) => Math.round(channel + (full[i] - channel) * share));
      const [ink] = [...INKS].sort((a, b) => contrast(color, b) - contrast(color, a));
      return { color, ground: `rgb(${color.join(" ")})`, ink: `rgb(${ink.join(" ")})` };
    });
  }

  function shade(weight) {
    if (shades === null) makeShades();
    return shades[Math.round((weight / WHOLE) * STEPS)];
  }

  /* Draw a matrix of weights, one pixel each. */
  function draw(canvas, weights) {
    const [height, width] = [weights.length, weights[0].length];
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    weights.forEach((row, y) => row.forEach((weight, x) => {
      image.data.set([...shade(weight).color, 255], 4 * (y * width + x));
    }));
    context.putImageData(image, 0, 0);
  }

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function heading(scope, text) {
    const label = element("bdi", { textContent: text });
    const turned = scope === "col" ? element("span", { className: "turned" }, label) : label;
    return element("th", { scope, title: text }, turned);
  }

  function paint(cell, weight) {
    const { ground, ink } = shade(weight);
    cell.style.backgroundColor = ground;
    cell.style.color = ink;
  }

  /* Put a table of weights into `frame`. `describe(row, column)` names a cell for those who do not
     see it; `look(row, column)` is called when a cell is pointed at or walked to. */
  function table(frame, { label, queries, keys, weights, describe, look }) {
    const head = element("tr", {}, element("td"), ...keys.map((key) => heading("col", key)));
    const cells = weights.map((row, i) => row.map((weight, j) => {
      const shown = weight >= WHOLE / 10 ? String(Math.round(weight / (WHOLE / 100))) : "";
      const cell = element("td", { textContent: shown, tabIndex: -1 });
      cell.dataset.row = i;
      cell.dataset.column = j;
      cell.setAttribute("aria-label", describe(i, j));
      paint(cell, weight);
      return cell;
    }));
    const sides = queries.map((query) => heading("row", query));
    const rows = cells.map((row, i) => element("tr", {}, sides[i], ...row));
    const made = element("table", { className: "heat" },
      element("thead", {}, head), element("tbody", {}, ...rows));
    made.setAttribute("role", "grid");
    made.setAttribute("aria-label", label);
    let [row, column] = [0, 0];
    const tops = [...head.cells].slice(1);

    function point(i, j) {
      sides[row].classList.remove("active");
      tops[column].classList.remove("active");
      cells[row][column].tabIndex = -1;
      [row, column] = [i, j];
      sides[row].classList.add("active");
      tops[column].classList.add("active");
      cells[row][column].tabIndex = 0;
      look(row, column);
    }

    function pointAt(event) {
      const cell = event.target.closest("td[data-row]");
      if (cell) point(Number(cell.dataset.row), Number(cell.dataset.column));
    }

    made.addEventListener("mouseover", pointAt);
    made.addEventListener("focusin", pointAt);
    made.addEventListener("click", (event) => event.target.closest("td[data-row]")?.focus());
    made.addEventListener("keydown", (event) => {
      const to = walk(event, row, column, cells.length, tops.length);
      if (to) cells[to[0]][to[1]].focus();
    });
    frame.replaceChildren(made);
    fit(frame, made, tops.length);
    return { point };
  }

  /* Wide cells where there is room, and none too small for a finger. */
  function fit(frame, made, columns) {
    made.style.setProperty("--cell", "24px");
    const spare = frame.clientWidth - made.offsetWidth;
    const cell = Math.min(44, 24 + Math.floor(Math.max(spare, 0) / columns));
    made.style.setProperty("--cell", `${cell}px`);
  }

  /* Where an arrow key leads in a grid, or null; keys that lead nowhere keep their meaning. */
  function walk(event, row, column, rows, columns) {
    if (event.altKey || event.metaKey || event.shiftKey) return null;
    const whole = event.ctrlKey;
    const last = [rows - 1, columns - 1];
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [whole ? 0 : row, 0], End: [whole ? last[0] : row, last[1]],
    }[event.key];
    if (!to) return null;
    event.preventDefault();
    return to.map((index, i) => Math.min(Math.max(index, 0), last[i]));
  }

  function legend(canvas) {
    const steps = Array.from({ length: STEPS + 1 }, (_, i) => (WHOLE * i) / STEPS);
    draw(canvas, [steps]);
  }

  /* Call `redraw` when the colours change. */
  function follow(redraw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      makeShades();
      redraw();
    });
  }

  return { WHOLE, draw, element, follow, legend, table, walk };
})();
