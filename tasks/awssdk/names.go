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

// reserved lists the names that a method without parameters cannot have in Java: keywords, and the methods of every
// object.
var reserved = map[string]bool{
	"abstract": true, "assert": true, "boolean": true, "break": true, "byte": true, "case": true, "catch": true,
	"char": true, "class": true,
	"const": true, "continue": true, "default": true, "do": true, "double": true, "else": true, "enum": true,
	"equals":  true,
	"extends": true, "false": true, "final": true, "finalize": true, "finally": true, "float": true, "for": true,
	"getClass": true,
	"goto":     true, "hashCode": true, "if": true, "implements": true, "import": true, "instanceof": true, "int": true,
	"interface": true,
	"long":      true, "native": true, "new": true, "notify": true, "notifyAll": true, "package": true, "private": true,
	"protected": true,
	"public":    true, "return": true, "short": true, "static": true, "strictfp": true, "super": true, "switch": true,
	"synchronized": true,
	"this":         true, "throw": true, "throws": true, "toString": true, "transient": true, "true": true, "try": true,
	"void":     true,
	"volatile": true, "wait": true, "while": true,
}

// MemberName returns a member's name in the results of AWS SDK integrations, which is the name in the SDK for Java,
// capitalized. BOOL becomes Bool, SSEKMSKeyId becomes SsekmsKeyId; ETag and ChecksumCRC32 are unchanged. A name that
// Java reserves is extended: Equals becomes EqualsValue.
func MemberName(model string) string {
	if model == "NULL" { // null is a Java keyword
		return "Nul"
	}
	r := []rune(model)
	for i := 1; i < len(r) && unicode.IsUpper(r[i]); i++ {
		if i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	if name := string(r); !reserved[lowerFirst(name)] {
		return name
	}
	return string(r) + "Value"
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
