export { binary, start } from "./index.cjs";
