import { defineConfig } from "vitepress";
import { pages } from "./pages.mjs";

export default defineConfig({
  title: "stepback",
  description: "Retries in workflows: state machines of AWS Step Functions, on a laptop and on AWS",
  base: process.env.BASE || "/",
  cleanUrls: false,
  lastUpdated: false,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    html: false, // placeholders such as <name> are text
    attrs: { disable: true },
    anchor: { slugify: (s) => s.trim().toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, "").replace(/ /g, "-") }, // as GitHub's
  },
  vite: { build: { chunkSizeWarningLimit: 4000 }, assetsInclude: ["**/*.wasm"] },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/start" },
      { text: "Try it here", link: "/try" },
      { text: "All pages", link: "/pages" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    sidebar: pages,
    docFooter: { prev: false, next: false },
  },
});
