// Adds a copy button to each block of code and to each secret or id. Pages without this script lack only these buttons.
"use strict";

function copyButton(source, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-button";
  button.textContent = "Copy";
  if (name) button.setAttribute("aria-label", `Copy ${name}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.dataset.copy ?? source.textContent);
      button.textContent = "Copied";
    } catch {
      // Browsers allow the clipboard only on secure origins. Select the text, so that a key press copies it.
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
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
