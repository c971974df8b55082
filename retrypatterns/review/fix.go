package review

import (
	"errors"
	"slices"

	"stepback/asl/source"
)

// Fix applies the mechanical fixes of all findings to a definition in JSON. It returns the fixed definition and the
// number of findings that it fixed. A fix that overlaps an earlier one is left for another call.
func Fix(text string, findings []Finding) (fixed string, mended int) {
	index := source.NewIndex(text)
	edits, chosen, _ := Edits(findings, func(c source.Change) ([]source.Edit, error) {
		return index.Edits(text, c),
			nil
	})
	return source.Apply(text, edits), len(chosen)
}

// Edits returns the edits of the fixes of all findings, and the findings that they fix. A fix that overlaps an earlier
// one is left for another call. render returns the edits of a change in the text in which the definition is written;
// if it returns an error, the finding is not fixed. err joins these errors.
func Edits(findings []Finding, render func(source.Change) ([]source.Edit, error)) (edits []source.Edit, fixed []Finding,
	err error,
) {
	overlaps := func(e source.Edit) bool {
		return slices.ContainsFunc(edits, func(o source.Edit) bool {
			return e.Span.Start < o.Span.End && o.Span.Start < e.Span.End || e.Span.Start == o.Span.Start
		})
	}
	var wrong []error
	for _, f := range findings {
		var own []source.Edit
		var failed error
		for _, c := range f.Fix {
			some, err := render(c)
			if err != nil {
				failed = err
				break
			}
			own = append(own, some...)
		}
		switch {
		case failed != nil:
			wrong = append(wrong, failed)
		case len(own) > 0 && !slices.ContainsFunc(own, overlaps):
			edits, fixed = append(edits, own...), append(fixed, f)
		}
	}
	return edits, fixed, errors.Join(wrong...)
}

// set sets a member of the object at a path, replacing an existing one.
func set(object source.Path, name, value string) []source.Change {
	return []source.Change{{Kind: source.SetMember, At: object.Join(source.Member(name)), Value: value}}
}

// prepend inserts an element at the start of an array member of the object at a path, and creates the array if it
// does not exist.
func (r *reviewer) prepend(object source.Path, array, element string) []source.Change {
	at := object.Join(source.Member(array))
	if !r.index.Has(at) {
		return set(object, array, "["+element+"]")
	}
	return []source.Change{{Kind: source.InsertElement, At: at.Join(source.Element(0)), Value: element}}
}

// appendTo adds elements at the end of the array at a path.
func appendTo(array source.Path, elements string) []source.Change {
	return []source.Change{{Kind: source.AppendElements, At: array, Value: elements}}
}

// remove removes the element at a path from its array, together with the adjacent comma.
func remove(element source.Path) []source.Change {
	return []source.Change{{Kind: source.RemoveElement, At: element}}
}
