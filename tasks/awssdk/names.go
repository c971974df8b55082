package awssdk

import (
	"strings"
	"unicode"
)

// upperFirst makes an action's name that of the client's method.
func upperFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lowerFirst is a member's name as services spell it in their messages.
func lowerFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// reserved are the names that no method without parameters can have in Java: its words, and what every object has.
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

// MemberName is a member's name in the results of AWS SDK integrations: that of the SDK for Java with a capital. BOOL
// becomes Bool, SSEKMSKeyId becomes SsekmsKeyId; ETag and ChecksumCRC32 stay as they are. A name that Java has itself
// gets another word: Equals becomes EqualsValue.
func MemberName(model string) string {
	if model == "NULL" { // null is a word of Java
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

// exceptionName is the name of the class that the SDK for Java throws for an error: NoSuchKey becomes
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
