package machinetest

import (
	"encoding/xml"
	"io"
	"strings"
)

// JUnit writes results as JUnit XML for CI systems, with one suite for each test file.
func JUnit(w io.Writer, results []*Result) error {
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
	for _, r := range results {
		n := len(all.Suites)
		if n == 0 || all.Suites[n-1].Name != r.File.Name {
			all.Suites = append(all.Suites, &suite{Name: r.File.Name})
			n++
		}
		s := all.Suites[n-1]
		c := testcase{Name: r.Test.Name, Class: r.File.Definition, File: r.File.Name, Line: r.Test.Line,
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
