// Both forms share one instance.
import asl from "./index.cjs";

export const { load, AslError, validate } = asl;
export default asl;
