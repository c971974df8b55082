package document

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// This file implements how CloudFormation reads the definition of an AWS::StepFunctions::StateMachine, as its public
// resource handler does (github.com/aws-cloudformation/aws-cloudformation-resource-providers-stepfunctions,
// DefinitionProcessor): one of three properties, substitutions in its text, and for a definition in S3 JSON or else
// YAML. The messages are the handler's.

// Errors of a resource's definition. CloudFormation reports all of them with the handler error code InternalFailure,
// except for ErrTooLong, whose code is InvalidRequest.
var (
	ErrNoDefinition      = errors.New("Property validation failed. Required key [DefinitionS3Location], [DefinitionString] or [Definition] not found.") //nolint:staticcheck,revive // AWS's words
	ErrSeveral           = errors.New("Property validation failed. Please use one of [DefinitionS3Location], [DefinitionString] or [Definition].")      //nolint:staticcheck,revive // likewise
	ErrSubstitutionType  = errors.New("Invalid definition substitution type. Input should be either String, Integer, or Boolean")                       //nolint:staticcheck,revive // likewise
	ErrInvalidDefinition = errors.New("Invalid StateMachine definition.")                                                                               //nolint:staticcheck,revive // likewise
	ErrTooLong           = errors.New("State Machine definition file cannot exceed 1MB.")                                                               //nolint:staticcheck,revive // likewise

	// Errors of an AWS::Serverless::StateMachine, in the words of SAM.
	ErrNoSAMDefinition = errors.New("Either 'Definition' or 'DefinitionUri' property must be specified.")    //nolint:staticcheck,revive // SAM's words
	ErrBothInSAM       = errors.New("Specify either 'Definition' or 'DefinitionUri' property and not both.") //nolint:staticcheck,revive // likewise

	// ErrCircular reports substitutions whose values contain each other. The handler reports only Internal Failure.
	ErrCircular = errors.New("the values contain each other in a circle, or grow beyond 2 MiB")
)

// OneDefinition reports whether a resource has exactly one of the properties that hold its definition. has reports
// whether it has a property. The error is ErrNoDefinition or ErrSeveral.
func OneDefinition(has func(property string) bool) error {
	n := 0
	for _, property := range []string{"DefinitionString", "DefinitionS3Location", "Definition"} {
		if has(property) {
			n++
		}
	}
	switch n {
	case 0:
		return ErrNoDefinition
	case 1:
		return nil
	default:
		return ErrSeveral
	}
}

// OneSAMDefinition reports whether an AWS::Serverless::StateMachine has exactly one of its properties that hold the
// definition. The error is ErrNoSAMDefinition or ErrBothInSAM.
func OneSAMDefinition(has func(property string) bool) error {
	switch inline, uri := has("Definition"), has("DefinitionUri"); {
	case inline && uri:
		return ErrBothInSAM
	case !inline && !uri:
		return ErrNoSAMDefinition
	}
	return nil
}

// SubstitutionText returns the text of a value of DefinitionSubstitutions. Strings, integers of 32 bits and booleans
// are accepted. The error is ErrSubstitutionType.
func SubstitutionText(v jsonvalue.Value) (string, error) {
	switch v.Kind() {
	case jsonvalue.String:
		return v.Text(), nil
	case jsonvalue.Bool:
		return v.JSON(), nil
	case jsonvalue.Number:
		if _, err := strconv.ParseInt(v.Text(), 10, 32); err == nil {
			return v.Text(), nil
		}
	default:
	}
	return "", ErrSubstitutionType
}

// Substitute replaces the placeholders ${NAME} of a definition by their values, and the placeholders in these values
// too, until none is left that has a value. The values are inserted as they are, without escapes. The error is
// ErrCircular.
func Substitute(definition string, values map[string]string) (string, error) {
	text, _, err := substitute(definition, values, false)
	return text, err
}

// mostPieces is the maximum number of pieces of a text whose origins are kept.
const mostPieces = 1 << 18

// substitute implements Substitute. If origins is true, it returns the origin of each part of the result.
func substitute(text string, values map[string]string, origins bool) (string, mapping, error) {
	longest := 0
	for name := range values {
		longest = max(longest, len(name))
	}
	var places mapping
	most := max(len(text), 2*MaxSize) // a text that grows further is too long for CreateStateMachine, or never ends
	for pass := 0; ; pass++ {
		filled, m, changed := substituteOnce(text, values, longest, origins)
		if !changed {
			return text, places, nil
		}
		// A chain of values ends after as many passes as there are values.
		if pass > len(values) || len(filled) > most || len(m) > mostPieces {
			return "", nil, ErrCircular
		}
		if text = filled; origins {
			places = m.over(places)
		}
	}
}

// substituteOnce replaces the placeholders that have a value; changed is false if there are none. longest is the length
// of the longest name.
func substituteOnce(text string, values map[string]string, longest int, origins bool) (filled string, m mapping, changed bool) {
	w := rewriter{text: text, forget: !origins}
	for i := 0; ; {
		n := strings.Index(text[i:], "${")
		if n < 0 {
			filled, m = w.result()
			return filled, m, w.odd
		}
		start := i + n
		rest := text[start+2 : min(len(text), start+2+longest+1)]
		i = start + 2
		if end := strings.IndexByte(rest, '}'); end >= 0 {
			if value, ok := values[rest[:end]]; ok {
				i = start + 2 + end + 1
				w.copy(start)
				w.replace(i, value, nil)
			}
		}
	}
}

// FromS3 returns the definition that an object of DefinitionS3Location holds: JSON, or else YAML, which is converted to
// JSON. Substitutions come first, so body has none left. The error is ErrTooLong or ErrInvalidDefinition.
func FromS3(body []byte) (string, error) {
	if len(body) > MaxSize {
		return "", ErrTooLong
	}
	text := strings.TrimPrefix(string(body), "\ufeff")
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if _, err := jsonvalue.Parse(text); err == nil {
		return text, nil
	}
	r := newYAMLReader(text, nil)
	if unreadable(text) != nil || r.read() != nil {
		return "", ErrInvalidDefinition
	}
	return Pretty(r.out.String())
}

// Pretty formats JSON as CloudFormation does when it converts a definition that is an object or YAML. It returns
// ErrInvalidDefinition if the text is not JSON.
func Pretty(text string) (string, error) {
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return "", ErrInvalidDefinition
	}
	var b bytes.Buffer
	pretty(&b, v, "\n")
	return b.String(), nil
}

// pretty writes a value in the form of Jackson's default pretty printer: members on their own lines, indented by two
// blanks, with blanks around colons; arrays on one line. end is the line end with the indentation of the value.
func pretty(b *bytes.Buffer, v jsonvalue.Value, end string) {
	switch v.Kind() {
	case jsonvalue.Object:
		b.WriteString("{")
		for i, name := range v.Keys() {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(b, "%s  %s : ", end, quoted(name))
			pretty(b, v.At(i), end+"  ")
		}
		if v.Len() == 0 {
			b.WriteString(" }")
			return
		}
		b.WriteString(end + "}")
	case jsonvalue.Array:
		b.WriteString("[ ")
		for i, e := range v.Elements() {
			if i > 0 {
				b.WriteString(", ")
			}
			pretty(b, e, end)
		}
		if v.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString("]")
	default:
		b.WriteString(v.JSON())
	}
}
