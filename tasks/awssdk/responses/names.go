package responses

import (
	"strings"
	"sync"
	"unicode"

	"stepback/aws/model"
)

// Naming gives the members of responses their names in results. It is safe for concurrent use.
type Naming struct {
	name  func(capital string) string
	known sync.Map // names by *model.Member
}

// The namings of AWS SDK integrations and of optimized integrations.
var (
	SDK       = &Naming{name: MemberName}
	Optimized = &Naming{name: func(capital string) string { return capital }}
)

// Member returns a member's name in results.
func (n *Naming) Member(m *model.Member) string {
	if name, ok := n.known.Load(m); ok {
		return name.(string)
	}
	name := n.name(strings.ToUpper(m.Name[:1]) + m.Name[1:])
	n.known.Store(m, name)
	return name
}

// reserved lists the names that a method without parameters cannot have in Java, capitalized: keywords, and the methods
// of every object.
var reserved = map[string]bool{
	"Abstract": true, "Assert": true, "Boolean": true, "Break": true, "Byte": true, "Case": true, "Catch": true,
	"Char": true, "Class": true, "Const": true, "Continue": true, "Default": true, "Do": true, "Double": true,
	"Else": true, "Enum": true, "Equals": true, "Extends": true, "False": true, "Final": true, "Finalize": true,
	"Finally": true, "Float": true, "For": true, "GetClass": true, "Goto": true, "HashCode": true, "If": true,
	"Implements": true, "Import": true, "Instanceof": true, "Int": true, "Interface": true, "Long": true,
	"Native": true, "New": true, "Notify": true, "NotifyAll": true, "Package": true, "Private": true,
	"Protected": true, "Public": true, "Return": true, "Short": true, "Static": true, "Strictfp": true,
	"Super": true, "Switch": true, "Synchronized": true, "This": true, "Throw": true, "Throws": true,
	"ToString": true, "Transient": true, "True": true, "Try": true, "Void": true, "Volatile": true, "Wait": true,
	"While": true,
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
	if name := string(r); !reserved[name] {
		return name
	}
	return string(r) + "Value"
}
