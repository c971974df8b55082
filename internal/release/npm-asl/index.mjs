// Both forms share one instance.
import asl from "./index.cjs";

export const { load, AslError, validate, review, fix, graph, explain } = asl;
export default asl;
