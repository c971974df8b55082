// Both forms share one instance.
import asl from "./index.cjs";

export const { load, AslError, validate, review, fix, graph, explain, testState } = asl;
export default asl;
