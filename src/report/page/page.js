"use strict";
// Builds the list of invocations from the data of the page, by text nodes alone: nothing that the
// data says becomes markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const pageSize = 50;
  const paperSize = 500;
  const list = document.getElementById("list");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const form = document.getElementById("filters");
  let chosen = [];
  let shown = 0;

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };
  const value = (word) => element("span", `value ${word}`, word.replace("_", " "));

  const findingText = (finding) => {
    const out = element("div", finding.consequence ? "consequence" : "first");
    out.append(element("code", "", finding.code), " ", value(finding.value));
    if (finding.known) out.append(" (known by the baseline)");
    out.append(element("p", "", `${finding.message}.`));
    if (finding.expected !== undefined || finding.recorded !== undefined) {
      const facts = element("dl", "facts");
      for (const name of ["expected", "recorded"]) {
        const fact = finding[name] === undefined ? "nothing" : finding[name];
        facts.append(element("div", "", element("dt", "", name), element("dd", "", fact)));
      }
      out.append(facts);
    }
    out.append(element("p", "quiet", `verdict ${finding.verdict}, owner ${finding.owner}`));
    for (const place of finding.places) out.append(element("p", "quiet", `at ${place}`));
    return out;
  };

  const timeline = (one) => {
    const named = new Map();
    for (const finding of one.findings) {
      for (const place of finding.places) {
        named.set(place, [...(named.get(place) || []), finding.code]);
      }
    }
    const out = element("ol", "timeline");
    for (const event of one.timeline) {
      const codes = named.get(event.place);
      const item = element("li", codes ? "named" : "", element("strong", "", event.kind));
      if (codes) item.append(` — ${[...new Set(codes)].join(", ")}`);
      const facts = element("dl", "facts");
      for (const [name, text] of event.facts) {
        facts.append(element("div", "", element("dt", "", name), element("dd", "", text)));
      }
      item.append(facts, element("p", "quiet", event.place));
      out.append(item);
    }
    return out;
  };

  const fill = (inside, one) => {
    const consequences = one.findings.filter((finding) => finding.consequence);
    const firsts = one.findings.filter((finding) => !finding.consequence);
    if (firsts.length > 0) inside.append(element("h3", "", "First contradicted fact"));
    for (const finding of firsts) inside.append(findingText(finding));
    if (consequences.length > 0) inside.append(element("h3", "", "Consequences"));
    for (const finding of consequences) inside.append(findingText(finding));
    if (one.timeline.length === 0) return;
    inside.append(element("h3", "", "Timeline"), timeline(one));
    if (one.left_out > 0) {
      inside.append(element("p", "quiet", `and ${one.left_out} more events`));
    }
  };

  const item = (one) => {
    const details = element("details");
    const summary = element("summary", "", element("strong", "", one.name));
    data.verdicts.forEach((verdict, i) => {
      if (one.values[i] === "passed" || one.values[i] === "not_exercised") return;
      summary.append(element("span", "", `${verdict} `, value(one.values[i])));
    });
    const about = [];
    if (one.owner) about.push(`owner ${one.owner}`);
    if (one.tool) about.push(`tool ${one.tool}`);
    if (one.case !== undefined) about.push(`case ${one.case}`);
    summary.append(element("span", "quiet", about.join(", ")));
    const inside = element("div", "inside");
    details.append(summary, inside);
    // Filled when it is first opened: ten thousand of them stay cheap.
    details.fill = () => {
      if (inside.childElementCount === 0) fill(inside, one);
    };
    details.addEventListener("toggle", () => details.open && details.fill());
    return element("li", "", details);
  };

  const matches = (one, filter) => {
    if (filter.case !== "" && one.case !== filter.case) return false;
    const isChosen = (finding) =>
      (filter.verdict === "" || finding.verdict === filter.verdict) &&
      (filter.owner === "" || finding.owner === filter.owner) &&
      (filter.value === "" || finding.value === filter.value) &&
      (filter.code === "" || finding.code === filter.code);
    const needsFinding = filter.verdict || filter.owner || filter.value || filter.code;
    if (needsFinding && !one.findings.some(isChosen)) return false;
    if (filter.text === "") return true;
    return [one.name, one.case, one.tool, one.route]
      .concat(one.findings.map((finding) => finding.message))
      .some((text) => text !== undefined && text.toLowerCase().includes(filter.text));
  };

  const showMore = (size) => {
    for (const one of chosen.slice(shown, shown + size)) list.append(item(one));
    shown = Math.min(shown + size, chosen.length);
    more.hidden = shown === chosen.length;
    count.textContent = `${chosen.length} of ${data.items.length} shown by these filters` +
      (shown < chosen.length ? `, the first ${shown} listed` : "");
  };

  const apply = () => {
    const filter = Object.fromEntries(new FormData(form));
    filter.text = filter.text.trim().toLowerCase();
    chosen = data.items.filter((one) => matches(one, filter));
    list.replaceChildren();
    shown = 0;
    showMore(pageSize);
  };

  const addOptions = (name, values) => {
    for (const text of [...new Set(values)].sort()) {
      const option = element("option", "", text);
      option.value = text;
      form.elements[name].append(option);
    }
  };
  const findings = data.items.flatMap((one) => one.findings);
  for (const name of ["verdict", "value", "owner", "code"]) {
    addOptions(name, findings.map((finding) => finding[name]));
  }
  addOptions("case", data.items.map((one) => one.case).filter((text) => text !== undefined));
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    const next = shown;
    showMore(pageSize);
    list.children[next].querySelector("summary").focus();
  });

  // The matrix: one cell takes part in the order of tabs, arrows move it (ARIA's pattern of a grid).
  const grid = document.getElementById("matrix");
  if (grid) {
    const rows = [...grid.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")]);
    const at = [0, 0];
    const moveTo = (row, column) => {
      rows[at[0]][at[1]].tabIndex = -1;
      at[0] = Math.max(0, Math.min(rows.length - 1, row));
      at[1] = Math.max(0, Math.min(rows[at[0]].length - 1, column));
      rows[at[0]][at[1]].tabIndex = 0;
    };
    const choose = () => {
      const cell = rows[at[0]][at[1]];
      form.reset();
      form.elements.case.value = cell.closest("tr").dataset.case;
      form.elements.verdict.value = data.verdicts[at[1]];
      if (form.elements.case.selectedIndex < 0) form.elements.case.value = "";
      if (form.elements.verdict.selectedIndex < 0) form.elements.verdict.value = "";
      setTimeout(() => {
        apply();
        document.getElementById("invocations").focus();
      });
    };
    grid.addEventListener("keydown", (event) => {
      const steps = {
        ArrowUp: [at[0] - 1, at[1]], ArrowDown: [at[0] + 1, at[1]],
        ArrowLeft: [at[0], at[1] - 1], ArrowRight: [at[0], at[1] + 1],
        Home: [at[0], 0], End: [at[0], data.verdicts.length - 1],
        PageUp: [at[0] - 10, at[1]], PageDown: [at[0] + 10, at[1]],
      };
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      } else if (Object.hasOwn(steps, event.key)) {
        event.preventDefault();
        moveTo(...steps[event.key]);
        rows[at[0]][at[1]].focus();
      }
    });
    grid.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (!cell) return;
      const row = rows.findIndex((cells) => cells.includes(cell));
      moveTo(row, rows[row].indexOf(cell));
      choose();
    });
  }

  // Paper cannot be opened: whatever the filters show is laid open, up to a bound.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    if (shown < chosen.length) showMore(paperSize - shown);
    opened = [...list.querySelectorAll("details:not([open])")];
    for (const details of opened) {
      details.fill();
      details.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
  apply();
})();
