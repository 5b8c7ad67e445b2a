// Starts the page's scripts. Each does one thing to what the server rendered, and the page works without them.
import { follow } from "./travel.js";
import { submitForms } from "./forms.js";
import { listen } from "./news_stream.js";
import { keepTimes } from "./times.js";
import { hearKeys } from "./keys.js";
import { openPalette } from "./palette.js";
import { openDialogs } from "./dialogs.js";
import { offerCopies } from "./copying.js";
import { logIn } from "./login.js";
import { keepTitle } from "./title.js";
import { keepDrafts } from "./drafts.js";
import { offerChips } from "./chips.js";
import { reach } from "./reach.js";
import { keepSearches } from "./saved.js";
import { bringFiles } from "./files.js";

logIn();
follow();
submitForms();
openDialogs();
offerCopies();
keepTimes();
if (document.body.dataset.me) {
  offerChips();
  keepDrafts();
  hearKeys();
  openPalette();
  keepTitle();
  reach();
  keepSearches();
  bringFiles();
  listen();
}
