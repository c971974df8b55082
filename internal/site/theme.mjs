import DefaultTheme from "vitepress/theme";
import Try from "../../Try.vue";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("try-page", Try); // the layout of try.md
  },
};
