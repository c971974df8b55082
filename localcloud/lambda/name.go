package lambda

import (
	"strings"
)

// target is the function that a call names.
type target struct{ name, qualifier string }

// parseTarget reads NAME, NAME:QUALIFIER, ACCOUNT:function:NAME and
// arn:aws:lambda:REGION:ACCOUNT:function:NAME, the last two with or without
// :QUALIFIER.
func parseTarget(functionName, qualifier string) (target, *APIError) {
	rest := functionName
	if i := strings.Index(rest, "function:"); i >= 0 {
		prefix := rest[:i]
		if prefix != "" && strings.Count(prefix, ":") != 1 && !strings.HasPrefix(prefix, "arn:") {
			return target{}, invalidParameter("%q is no function name or ARN", functionName)
		}
		rest = rest[i+len("function:"):]
	}
	name, inName, qualified := strings.Cut(rest, ":")
	if name == "" || strings.Contains(inName, ":") || qualified && inName == "" {
		return target{}, invalidParameter("%q is no function name or ARN", functionName)
	}
	if qualified && qualifier != "" && qualifier != inName {
		return target{}, invalidParameter("The derived qualifier from the function name does not match the specified qualifier.")
	}
	if qualified {
		qualifier = inName
	}
	return target{name, qualifier}, nil
}

// FunctionARN returns the ARN of the function name in the service's region
// and account.
func (s *Service) FunctionARN(name string) string {
	return "arn:aws:lambda:" + s.opts.Region + ":" + s.opts.Account + ":function:" + name
}
