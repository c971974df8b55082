package awssdk

import (
	"strings"
	"unicode"
)

// upperFirst converts an action's name to the name of the client's method.
func upperFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lowerFirst converts a member's name to the spelling in services' messages.
func lowerFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// exceptionName returns the name of the class that the SDK for Java throws for an error: NoSuchKey becomes
// NoSuchKeyException, KMSInternalException KmsInternalException, ServiceFault ServiceException.
func exceptionName(model string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(model, "Fault"), "Exception")
	r := []rune(base)
	for i := 1; i < len(r); i++ {
		followed := i+1 < len(r) && unicode.IsLower(r[i+1])
		if unicode.IsUpper(r[i]) && unicode.IsUpper(rune(base[i-1])) && !followed {
			r[i] = unicode.ToLower(r[i])
		}
	}
	return string(r) + "Exception"
}
