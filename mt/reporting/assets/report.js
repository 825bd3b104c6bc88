/* The page of `mt report`: the attention over a sentence that the reader chooses. */
"use strict";

(() => {
  const { sentences } = JSON.parse(document.getElementById("data").textContent);
  const { element } = Heat;
  const byIndex = new Map(sentences.map((sentence) => [sentence.index, sentence]));
  const piece = (text) => element("bdi", { className: "token", textContent: text });
  const decimal = (weight) => (weight / Heat.WHOLE).toFixed(3);

  function setUp() {
    const choice = document.getElementById("sentence");
    const frame = document.getElementById("heat");
    const scale = document.getElementById("scale");

    function look({ queries, keys, weights }, row, column) {
      const most = weights[row].map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
      const list = most.flatMap(([weight, i], n) => [n ? ", " : "", piece(keys[i]), ` ${decimal(weight)}`]);
      document.getElementById("cell").replaceChildren(
        piece(queries[row]), ` (token ${row + 1}) to `, piece(keys[column]), ` (token ${column + 1}) `,
        element("strong", { textContent: decimal(weights[row][column]) }), ". Most of this row: ", ...list, ".");
    }

    function show() {
      const sentence = byIndex.get(Number(choice.value));
      const { queries, keys, weights, index } = sentence;
      const grid = Heat.table(frame, {
        label: `Attention over line ${index + 1}: rows are tokens of the translation, columns of the source`,
        queries, keys, weights,
        describe: (row, column) => `${queries[row]} to ${keys[column]}: ${decimal(weights[row][column])}`,
        look: (row, column) => look(sentence, row, column),
      });
      grid.point(0, weights[0].indexOf(Math.max(...weights[0])));
    }

    function redraw() {
      Heat.legend(scale);
      show();
    }

    choice.replaceChildren(...sentences.map(({ index, text }) =>
      element("option", { value: index, textContent: `Line ${index + 1}: ${text}` })));
    choice.addEventListener("change", show);
    document.querySelectorAll("button[data-index]").forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => {
        choice.value = button.dataset.index;
        show();
        document.getElementById("attention").scrollIntoView();
        choice.focus({ preventScroll: true });
      });
    });
    document.getElementById("attended").hidden = false;
    let wide = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== wide) show();
      wide = innerWidth;
    });
    Heat.follow(redraw);
    redraw();
  }

  if (sentences.length) setUp();
  let unfolded = []; // what is open only on paper
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => unfolded.forEach((part) => { part.open = false; }));
  document.documentElement.dataset.ready = "yes";
})();
