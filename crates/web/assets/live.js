// Adds a button that follows the event log live. Without this script, the page has a link that reloads the log.
"use strict";

function follow(place) {
  const kept = Number(place.dataset.kept);
  const address = new URL(place.dataset.live, location);
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
      // A row shows the newest attempt of its delivery. The first row also has the cells of the event.
      for (const row of Array.from(old.rows)) {
        if (row.dataset.webhook === entry.dataset.webhook) {
          takeOver(row, entry);
        } else {
          row.querySelectorAll(".kind, .parties").forEach((cell) => cell.remove());
          event.append(row);
        }
      }
      entry.querySelectorAll(".kind, .parties").forEach((cell) => { cell.rowSpan = event.rows.length; });
      old.remove();
    }
    table.tHead.after(event);
    trim(table, kept);
    added += 1;
    show(counted());
  }

  function start() {
    added = 0;
    problem = "";
    source = new EventSource(address);
    source.addEventListener("open", () => show(counted()));
    source.addEventListener("entry", (event) => {
      // The next stream begins after this attempt.
      address.searchParams.set("after", event.lastEventId);
      add(event.data);
    });
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

// Moves the check mark and the attempts of a delivery to the row of its new attempt.
function takeOver(old, row) {
  const [oldBox, box] = [old, row].map((it) => it.querySelector("[name=selected]"));
  if (oldBox && box) box.checked = oldBox.checked;
  const [oldResult, result] = [old, row].map((it) => it.querySelector("[data-label=Result]"));
  const details = oldResult.querySelector("details") ?? document.createElement("details");
  if (!details.hasChildNodes()) details.innerHTML = '<summary></summary><ul class="tries"></ul>';
  const [summary, list] = details.children;
  const [tag, text] = oldResult.childNodes;
  // A pending delivery is no attempt.
  if (!tag.matches(".pending")) {
    const attempt = document.createElement("li");
    attempt.append(tag, `${text.data.trimEnd()}, `, old.querySelector("[data-label=When] time"));
    list.prepend(attempt);
  }
  const number = list.children.length;
  if (number === 0) return;
  summary.textContent = `${number} earlier ${number === 1 ? "attempt" : "attempts"}`;
  result.append(details);
}

// Removes the oldest events, those without a check mark first, until the table has at most `kept` deliveries.
function trim(table, kept) {
  while (table.tBodies.length > 1 && table.rows.length > kept + 1) {
    const [, ...older] = table.tBodies;
    (older.findLast((event) => !event.querySelector(":checked")) ?? older.at(-1)).remove();
  }
}

for (const place of document.querySelectorAll("[data-live]")) follow(place);
