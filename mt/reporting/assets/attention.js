/* The page of `mt inspect`: choose a kind of attention, a layer and a head; see its weights. */
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [overview, frame] = ["overview", "heat"].map((id) => document.getElementById(id));
  const { element } = Heat;
  const naming = document.getElementById("names");
  const kinds = new Map(data.kinds.map((kind) => [kind.id, kind]));
  let chosen = null; // { kind, layer, head }, from 0
  let buttons = []; // [layer][head]

  const percent = (share) => `${Math.round(100 * share)} %`;
  const decimal = (weight) => (weight / Heat.WHOLE).toFixed(3);
  const piece = (text) => element("bdi", { className: "token", textContent: text });
  const address = ({ kind, layer, head }) => `${kind}-${layer + 1}-${head + 1}`;
  const nameOf = ({ layer, head }) => `layer ${layer + 1}, head ${head + 1}`;
  const width = ({ entropy, spread }) => `entropy ${entropy.toFixed(2)} nats, ${percent(spread)} of the most`;

  function headOf({ kind, layer, head }) {
    return kinds.get(kind).layers[layer][head];
  }

  function parse(hash) {
    const match = /^#(\w+)-(\d+)-(\d+)$/.exec(hash);
    if (!match) return null;
    const choice = { kind: match[1], layer: match[2] - 1, head: match[3] - 1 };
    return kinds.get(choice.kind)?.layers[choice.layer]?.[choice.head] ? choice : null;
  }

  function showOverview(kind) {
    const { layers } = kinds.get(kind);
    const heads = layers[0].length;
    overview.style.gridTemplateColumns = `max-content repeat(${heads}, minmax(2.75rem, 8rem))`;
    const corner = element("span");
    const tops = layers[0].map((_, head) => element("span", { className: "top", textContent: head + 1 }));
    tops.forEach((top) => top.setAttribute("aria-hidden", "true"));
    buttons = layers.map((layer, i) => layer.map((of, j) => thumbnail({ kind, layer: i, head: j }, of)));
    const rows = buttons.flatMap((row, i) => {
      const side = element("span", { className: "side", textContent: i + 1 });
      side.setAttribute("aria-hidden", "true");
      return [side, ...row];
    });
    overview.replaceChildren(corner, ...tops, ...rows);
  }

  function thumbnail(choice, of) {
    const canvas = element("canvas", { className: "thumbnail" });
    canvas.setAttribute("aria-hidden", "true");
    Heat.draw(canvas, of.weights);
    const made = element("button", { type: "button", tabIndex: -1 },
      element("span", { className: "picture" }, canvas),
      element("span", { className: "note" }, of.entropy.toFixed(2),
        element("span", { className: "name", textContent: of.names.map((name) => data.short[name]).join(" ") })));
    const names = of.names.length ? `, ${of.names.join(", ")}` : "";
    made.setAttribute("aria-label", `${nameOf(choice)}: ${width(of)}${names}`);
    made.title = made.getAttribute("aria-label");
    made.addEventListener("click", () => {
      choose(choice);
      document.getElementById("detail").scrollIntoView({ block: "nearest" });
    });
    return made;
  }

  /* The names of rows: in cross-attention those that the reader chose. */
  function rowNames(kind) {
    return kind.id === "cross" && naming.value === "fed" ? data.fed : kind.queries;
  }

  function describe(kind, of, row, column) {
    return `${rowNames(kind)[row]} to ${kind.keys[column]}: ${decimal(of.weights[row][column])}`;
  }

  /* What is said of a row: who attends, to what most, and how widely. */
  function look(kind, of, row, column) {
    const weights = of.weights[row];
    const most = weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 4);
    const list = most.filter(([weight]) => weight >= Heat.WHOLE / 100)
      .flatMap(([weight, i], n) => [n ? ", " : "", piece(kind.keys[i]), ` ${decimal(weight)}`]);
    const likely = data.probabilities[row]?.toFixed(3);
    const who = kind.id === "cross"
      ? ["After ", piece(data.fed[row]), ", to predict ", piece(kind.queries[row]), ` (probability ${likely}): `]
      : [piece(kind.queries[row]), ` (token ${row + 1}): `];
    document.getElementById("cell").replaceChildren(...who,
      piece(kind.keys[column]), ` (token ${column + 1}) `,
      element("strong", { textContent: decimal(weights[column]) }));
    document.getElementById("row").replaceChildren("Most of this row: ", ...list, ".");
  }

  function showDetail() {
    const kind = kinds.get(chosen.kind);
    document.getElementById("naming").hidden = kind.id !== "cross";
    const of = headOf(chosen);
    const title = document.getElementById("detail-title");
    title.textContent = `${kind.name}, ${nameOf(chosen)}`;
    const names = of.names.length ? `Looks like: ${of.names.join(", ")}.` : "Looks like no named pattern.";
    document.getElementById("facts").textContent = `${names} ${width(of)}.`
      .replace(" entropy", " Entropy");
    document.getElementById("axes").textContent = kind.axes;
    const grid = Heat.table(frame, {
      label: `${title.textContent}: weights; rows ${kind.rows}, columns ${kind.columns}`,
      queries: rowNames(kind), keys: kind.keys, weights: of.weights,
      describe: (row, column) => describe(kind, of, row, column),
      look: (row, column) => look(kind, of, row, column),
    });
    let best = [0, 0];
    of.weights[0].forEach((weight, i) => { if (weight > of.weights[0][best[1]]) best = [0, i]; });
    grid.point(...best);
  }

  function show() {
    buttons.forEach((row, i) => row.forEach((button, j) => {
      const isChosen = i === chosen.layer && j === chosen.head;
      button.setAttribute("aria-pressed", isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    }));
    document.querySelector(`input[name=kind][value=${chosen.kind}]`).checked = true;
    showDetail();
  }

  function choose(choice) {
    const isOtherKind = chosen?.kind !== choice.kind;
    chosen = choice;
    if (isOtherKind) showOverview(choice.kind);
    show();
    history.replaceState(null, "", `#${address(choice)}`);
  }

  function redraw() {
    Heat.legend(document.getElementById("scale"));
    showOverview(chosen.kind);
    show();
  }

  document.querySelectorAll("input[name=kind]").forEach((input) => {
    input.addEventListener("change", () => choose(parse(`#${data.starts[input.value]}`)));
  });
  overview.addEventListener("keydown", (event) => {
    const to = Heat.walk(event, chosen.layer, chosen.head, buttons.length, buttons[0].length);
    if (!to) return;
    choose({ kind: chosen.kind, layer: to[0], head: to[1] });
    buttons[to[0]][to[1]].focus();
  });
  addEventListener("hashchange", () => {
    const choice = parse(location.hash);
    if (!choice) return;
    choose(choice);
    document.getElementById("detail").scrollIntoView({ block: "nearest" });
  });
  naming.addEventListener("change", showDetail);
  let wide = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== wide) showDetail();
    wide = innerWidth;
  });
  Heat.follow(redraw);
  Heat.legend(document.getElementById("scale"));
  choose(parse(location.hash) ?? parse(`#${data.starts[data.kinds[0].id]}`));
  document.documentElement.dataset.ready = "yes";
})();
