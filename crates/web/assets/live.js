// Adds a button that follows the event log live. Without this script, the page has a link that reloads the log.
"use strict";

const KEPT_EVENTS = 200;

function follow(place) {
  const status = place.querySelector("[role=status]");
  const button = document.createElement("button");
  button.type = "button";
  let source = null;
  let added = 0;
  let problem = "";

  function show(text) {
    button.textContent = source ? "Stop following" : "Follow live";
    button.setAttribute("aria-pressed", String(source !== null));
    status.textContent = text;
  }

  function stop(text) {
    source?.close();
    source = null;
    show(text);
  }

  function counted() {
    const attempts = added === 1 ? "1 new attempt" : `${added} new attempts`;
    return `Live: ${added === 0 ? "waiting for attempts" : attempts}.${problem}`;
  }

  function add(html) {
    const table = document.querySelector("table.log");
    // An empty log has no table yet.
    if (!table) return location.reload();
    const parsed = document.createElement("template");
    parsed.innerHTML = html;
    const event = parsed.content.firstElementChild;
    const [entry] = event.rows;
    const old = Array.from(table.tBodies).find((body) => body.dataset.event === event.dataset.event);
    if (old) {
      const rows = Array.from(old.rows);
      if (rows.some((row) => row.dataset.entry === entry.dataset.entry)) return;
      // A row shows the newest attempt of its delivery. The first row also has the cells of the event.
      for (const row of rows.filter((row) => row.dataset.webhook !== entry.dataset.webhook)) {
        row.querySelectorAll(".kind, .parties").forEach((cell) => cell.remove());
        event.append(row);
      }
      entry.querySelectorAll(".kind, .parties").forEach((cell) => { cell.rowSpan = event.rows.length; });
      old.remove();
    }
    table.tHead.after(event);
    while (table.tBodies.length > KEPT_EVENTS) table.tBodies[table.tBodies.length - 1].remove();
    added += 1;
    show(counted());
  }

  function start() {
    added = 0;
    problem = "";
    source = new EventSource(place.dataset.live);
    source.addEventListener("open", () => show(counted()));
    source.addEventListener("entry", (event) => add(event.data));
    source.addEventListener("gap", () => {
      problem = " Some attempts are not listed: reload the page.";
      show(counted());
    });
    source.addEventListener("end", (event) => stop(event.data));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) {
        stop("The log cannot be followed now: too many live logs on the service, or the session has ended. Reload the page.");
      } else {
        show("Connecting again…");
      }
    });
    show("Connecting…");
  }

  button.addEventListener("click", () => (source ? stop("") : start()));
  place.prepend(button);
  show("");
}

for (const place of document.querySelectorAll("[data-live]")) follow(place);
