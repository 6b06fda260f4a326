const root = document.body.dataset.root;
const input = document.getElementById("search");
const results = document.getElementById("results");
const menu = document.getElementById("menu");
const MOST_RESULTS = 12;

const index = window.MiniSearch.loadJSON(window.searchIndex, {
  fields: ["heading", "page", "text"],
  storeFields: ["url", "page", "heading"],
});

function show(found) {
  results.replaceChildren(
    ...found.map(({ url, page, heading }) => {
      const link = document.createElement("a");
      link.href = `${root}/${url}`;
      link.textContent = heading;
      const item = document.createElement("li");
      item.append(link);
      if (page !== heading) {
        const name = document.createElement("small");
        name.textContent = page;
        item.append(name);
      }
      return item;
    }),
  );
  if (found.length === 0) {
    const item = document.createElement("li");
    item.textContent = "No results";
    results.append(item);
  }
}

input.addEventListener("input", () => {
  const query = input.value.trim();
  results.hidden = query === "";
  if (query === "") return;
  const options = { prefix: true, fuzzy: 0.15, combineWith: "AND", boost: { heading: 4, page: 2 } };
  show(index.search(query, options).slice(0, MOST_RESULTS));
});

input.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
  if (event.key === "ArrowDown") {
    event.preventDefault();
    results.querySelector("a")?.focus();
  }
});

results.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const links = [...results.querySelectorAll("a")];
  const next = links[links.indexOf(document.activeElement) + step];
  (next ?? input).focus();
});

results.addEventListener("click", () => {
  results.hidden = true;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    results.hidden = true;
    input.blur();
  }
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
});

menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(open));
});

document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "center" });
