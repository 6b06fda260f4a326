import { render } from "solid-js/web";
import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/layout.css";

applyTheme();
const root = document.getElementById("root");
if (root) render(() => <App />, root);
