import { defineConfig } from "vite";
import solid from "vite-plugin-solid";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [solid()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows neither inline scripts nor data: fonts. All supported browsers preload modules.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
});
