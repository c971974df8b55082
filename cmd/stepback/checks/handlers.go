package checks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/terminal"
	"stepback/retry"
	"stepback/retrypatterns/review"
	"stepback/retrypatterns/review/handlers"
)

// reviewRules returns the rules about definitions and those about the code of durable functions.
func reviewRules() []review.Rule {
	all := review.Rules()
	for _, r := range handlers.Rules() {
		if _, known := review.RuleNamed(string(r.Code)); !known {
			all = append(all, r)
		}
	}
	return all
}

// reviewRule returns the rule with a code, ignoring case; ok is false if there is none.
func reviewRule(code string) (review.Rule, bool) {
	all := reviewRules()
	i := slices.IndexFunc(all, func(r review.Rule) bool { return strings.EqualFold(string(r.Code), code) })
	if i < 0 {
		return review.Rule{}, false
	}
	return all[i], true
}

// sources reviews the source files among the arguments, and those with a durable function in the directories among
// them. others are the arguments that may name definitions. withCode are the directories in which there is a durable
// function.
func sources(named []string) (all []reviewed, unread []definitions.Unread, others, withCode []string) {
	for _, name := range named {
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			found, failed := sourcesBelow(name)
			if len(found)+len(failed) > 0 {
				withCode = append(withCode, name)
			}
			all, unread = append(all, found...), append(unread, failed...)
			others = append(others, name)
		case handlers.IsSource(name):
			x, err := reviewSource(name)
			if err != nil {
				unread = append(unread, definitions.Unread{Path: name, Err: err, Named: true})
				continue
			}
			all = append(all, x)
		default:
			others = append(others, name)
		}
	}
	return all, unread, others, withCode
}

// sourcesBelow reviews the source files in a directory that have a durable function. It skips tests, and longer files
// than handlers.MaxText, which are build output.
func sourcesBelow(directory string) (all []reviewed, unread []definitions.Unread) {
	_ = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil: // reported with the definitions
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			if path != directory && definitions.IsBuilt(entry.Name()) {
				return fs.SkipDir
			}
		case handlers.IsSource(path) && !handlers.IsTest(path) && entry.Type().IsRegular() && !tooLong(entry):
			x, err := reviewSource(path)
			switch {
			case err == nil:
				all = append(all, x)
			case !errors.Is(err, handlers.ErrNone):
				unread = append(unread, definitions.Unread{Path: path, Err: err})
			}
		}
		return nil
	})
	return all, unread
}

func tooLong(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && info.Size() > handlers.MaxText
}

// reviewSource reviews a source file.
func reviewSource(path string) (reviewed, error) {
	text, err := readSource(path)
	if err != nil {
		return reviewed{}, err
	}
	r, err := handlers.Review(filepath.ToSlash(path), text)
	if err != nil {
		return reviewed{}, err
	}
	d := definitions.File{Path: path, Source: path, Document: &document.Document{Text: text}}
	x := reviewed{Functions: r.Functions, NotFollowed: r.NotFollowed, Reviewed: definitions.Reviewed{
		Definition: d, Advice: asl.Group(r.Findings), States: []definitions.ReviewedState{},
	}}
	x.Validated = definitions.NewValidated(&d, x.Advice)
	if x.Result = "OK"; r.Functions == 0 { // a syntax error
		x.Result = "FAIL"
	}
	for _, s := range r.Steps {
		x.States = append(x.States, definitions.ReviewedState{
			Location:    s.Location,
			Retries:     s.Retries,
			Attempts:    s.Attempts,
			LongestWait: s.Wait.Seconds(),
			About: &review.State{
				Location: s.Location,
				Retries:  s.Retries,
				Attempts: s.Attempts,
				Wait:     retry.Wait{Max: s.Wait},
			},
		})
	}
	return x, nil
}

// readSource returns the text of a source file. It reads no more of a file that is too long than handlers.Review needs
// to refuse it.
func readSource(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", errors.New(terminal.Words(err))
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	case info.Size() > handlers.MaxText:
		return "", fmt.Errorf("it is longer than %d bytes", handlers.MaxText)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", errors.New(terminal.Words(err))
	}
	return string(text), nil
}
