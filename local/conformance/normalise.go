package conformance

import (
	"regexp"
	"strings"
)

var dateTime = regexp.MustCompile(
	`\d{4}-(1[0-2]|0[1-9])-(3[01]|0[1-9]|[12]\d)T(2[0-3]|[01]\d):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-](2[0-3]|[01]\d):?[0-5]\d)`)

// Normalise converts an actual response to the form of the recordings: dates become a fixed word, JSON texts become
// objects.
func Normalise(answer any) any {
	if o, ok := answer.(map[string]any); ok {
		dates(o)
		for _, v := range o {
			list, _ := v.([]any)
			for _, e := range list {
				if member, ok := e.(map[string]any); ok {
					dates(member)
				}
			}
		}
	}
	return normalise(answer)
}

// dates replaces the date members of an API response.
func dates(o map[string]any) {
	for k := range o {
		if strings.HasSuffix(k, "Date") {
			o[k] = "datetime"
		}
	}
}

func normalise(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "{") {
			if o, ok := parse(v); ok {
				return normalise(o)
			}
		}
		return dateTime.ReplaceAllString(v, "date")
	case []any:
		for i := range v {
			v[i] = normalise(v[i])
		}
		return v
	case map[string]any:
		for k, e := range v {
			v[k] = member(k, e)
		}
		return v
	default:
		return v
	}
}

func member(key string, v any) any {
	if strings.Contains(strings.ToLower(key), "timestamp") {
		if s, ok := v.(string); !ok || !dateTime.MatchString(s) {
			return "timestamp"
		}
	}
	return normalise(v)
}
