package machinetest

import (
	"encoding/xml"
	"io"
	"strings"
	"time"
)

// Report is the result of one test for people and CI systems, whatever was tested.
type Report struct {
	// File and Line are the place of the test, and Name is its name. Subject is what was tested: the definition, or the
	// function's code.
	File    string
	Line    int
	Name    string
	Subject string
	// Failures and Notes are those of a Result.
	Failures, Notes []string
	// Real is the real time that the test took.
	Real time.Duration
}

// Passed reports whether every expectation was met.
func (r *Report) Passed() bool { return len(r.Failures) == 0 }

// Report returns the result for people and CI systems.
func (r *Result) Report() Report {
	return Report{File: r.File.Name, Line: r.Test.Line, Name: r.Test.Name, Subject: r.File.Definition,
		Failures: r.Failures, Notes: r.Notes, Real: r.Real}
}

// JUnit writes results as JUnit XML for CI systems, with one suite for each test file.
func JUnit(w io.Writer, results []Report) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		File    string   `xml:"file,attr"`
		Line    int      `xml:"line,attr"`
		Seconds float64  `xml:"time,attr"`
		Failure *failure `xml:"failure"`
		Notes   string   `xml:"system-out,omitempty"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	var all struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*suite `xml:"testsuite"`
	}
	for i := range results {
		r := &results[i]
		n := len(all.Suites)
		if n == 0 || all.Suites[n-1].Name != r.File {
			all.Suites = append(all.Suites, &suite{Name: r.File})
			n++
		}
		s := all.Suites[n-1]
		c := testcase{Name: r.Name, Class: r.Subject, File: r.File, Line: r.Line,
			Seconds: r.Real.Seconds(), Notes: strings.Join(r.Notes, "\n")}
		if !r.Passed() {
			s.Failures++
			c.Failure = &failure{r.Failures[0], strings.Join(r.Failures, "\n")}
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
