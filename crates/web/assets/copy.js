// Adds a copy button to each block of code and to each secret or id. Pages without this script lack only these buttons.
"use strict";

function copyButton(source, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-button";
  // Screen readers announce the result.
  button.setAttribute("aria-live", "polite");
  const show = (text) => {
    button.textContent = text;
    if (name) button.setAttribute("aria-label", `${text} ${name}`);
  };
  show("Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.dataset.copy ?? source.textContent);
      show("Copied");
    } catch {
      // Browsers allow the clipboard only on secure origins. Select the text, so that a key press copies it.
      getSelection().selectAllChildren(source);
      show("Selected");
    }
    setTimeout(() => show("Copy"), 2000);
  });
  return button;
}

for (const head of document.querySelectorAll(".code-head")) {
  head.append(copyButton(head.nextElementSibling.querySelector("code")));
}

for (const text of document.querySelectorAll("code.secret, code.copyable")) {
  const term = text.closest("dd")?.previousElementSibling?.textContent;
  const button = copyButton(text, term);
  button.classList.add("inline");
  text.after(" ", button);
}
