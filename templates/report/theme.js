// The theme, and the list of keys.
const THEMES = ["system", "light", "dark"];

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = `theme: ${theme}`;
  document.dispatchEvent(new Event("themechange"));
}

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  const theme = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  setTheme(theme);
  try {
    localStorage.setItem("pypto-tmpl-report-theme", theme);
  } catch {
    // Where the browser keeps nothing, the choice lasts as long as the page.
  }
}

/** Take the theme that was chosen last, if the browser has kept it. */
function restoreTheme() {
  try {
    const theme = localStorage.getItem("pypto-tmpl-report-theme");
    if (THEMES.includes(theme)) setTheme(theme);
  } catch {
    // See nextTheme.
  }
}

function showHelp() {
  const help = document.getElementById("help");
  if (help.open) help.close();
  else help.showModal();
}
