package machinetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/aws/model"
	"stepback/engine"
	"stepback/internal/spelling"
	"stepback/internal/strictyaml"
	"stepback/internal/testfile"
	"stepback/jsonvalue"
	"stepback/tasks/faults"
	"stepback/tasks/mock"
)

// File is a parsed test file that has been checked against its definition.
type File struct {
	// Name is the name of the test file as shown in messages; Definition is the name of the definition's file.
	Name, Definition string
	// Text is the definition as JSON; Machine is the parsed definition.
	Text    string
	Machine *asl.Machine
	Express bool
	// Objects is the directory with a folder for each bucket; empty if there is none.
	Objects string
	Tests   []Test
}

// Test is one execution with its expected outcome.
type Test struct {
	Name string
	Line int
	// Input is JSON text.
	Input string
	// Answers contains the responses of tasks, in order, for each state. Case contains the responses for all other
	// states; it may be nil.
	Answers map[string][]Answer
	Case    engine.Interceptor
	Faults  []faults.Spec
	Seed    uint64
	Expect  Expect
}

// Answer is the response to one invocation of a task, or to several in a row.
type Answer struct {
	// Line is the line of the test file at which the answer begins.
	Line int
	// Input restricts the answer to tasks whose Arguments (in JSONPath their Parameters) equal it: what the service
	// gets, not the state's input. nil means no restriction.
	Input *jsonvalue.Value
	// Return is the result. An answer with Error fails instead. An answer that hangs lets the state time out.
	Return jsonvalue.Value
	Error  string
	Cause  string
	Hang   bool
	// Times is the number of invocations that get it; 0 means all that follow.
	Times int
}

// Expect is the expected outcome. Fields that are not set are not checked.
type Expect struct {
	Ending
	Path           []string
	Entered, Never []string
	Attempts       []Number
	Waits          []Waits
}

// Number is an expected count for a state.
type Number struct {
	State string
	N     int
}

// Waits are the expected waits of a state.
type Waits struct {
	State string
	Waits []time.Duration
}

// Opener reads the files that a test file names; paths are relative to the test file. Definition returns a
// definition as JSON, with its placeholders replaced by values.
type Opener interface {
	Definition(path string, values map[string]string) (text string, err error)
	Text(path string) ([]byte, error)
}

// suffixes are the suffixes of test files.
var suffixes = []string{".test.yaml", ".test.yml"}

// IsTestFile reports whether a file's name has the suffix of a test file.
func IsTestFile(name string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// FunctionLine returns the line of the member function of a test file, which then tests a durable Lambda function
// instead of a state machine. It returns 0 for other files.
func FunctionLine(text []byte) int {
	_, v := strictyaml.Read("", text)
	if !v.IsObject() {
		return 0
	}
	for _, m := range v.Members() {
		if m.Name == "function" {
			return m.Line()
		}
	}
	return 0
}

// The limits of a test file: the maximum duration, the maximum text size, and the maximum number of tests.
const (
	longest  = 100 * 365 * 24 * time.Hour
	textSize = 1 << 20
	most     = 10_000
)

// Parse parses a test file. base is the name of its definition without a suffix, for files that name none. The error
// is strictyaml's Problems, with line and column, a *RefusedError for a definition that Step Functions would refuse,
// or explains why a named file cannot be read.
func Parse(name string, text []byte, base string, open Opener) (*File, error) {
	r, v := strictyaml.Read(name, text)
	o := v.Object("definition", "substitutions", "express", "objects", "mocks", "machine", "tests")
	if err := r.Err(); err != nil {
		return nil, err
	}
	f := &File{Name: name, Definition: base, Express: o.Get("express").Bool(), Objects: o.Get("objects").Text(textSize)}
	if d := o.Get("definition"); d.Present() {
		f.Definition = d.Text(textSize)
	}
	values := map[string]string{}
	for _, m := range o.Get("substitutions").Members() {
		values[m.Name] = m.Text(textSize)
	}
	var err error
	if f.Text, err = open.Definition(f.Definition, values); err != nil {
		return nil, fmt.Errorf("%s: the definition: %w", name, err)
	}
	if found := engine.Validate(f.Text, f.Express, model.CheckAction); asl.HasErrors(found) {
		return nil, &RefusedError{f.Definition, asl.Render(found, f.Text, f.Definition)}
	}
	f.Machine, _ = asl.Options{Express: f.Express}.Parse(f.Text)
	p := parser{file: f, states: tasks(f.Machine), all: names(f.Machine), machine: o.Get("machine").Text(textSize)}
	if mocks := o.Get("mocks"); mocks.Present() {
		if err := p.mocks(mocks.Text(textSize), open); err != nil {
			return nil, fmt.Errorf("%s: mocks: %w", name, err)
		}
	}
	for _, t := range o.Need("tests").List(1, most) {
		f.Tests = append(f.Tests, p.test(t, open))
	}
	return f, r.Err()
}

// parser parses the tests of one file.
type parser struct {
	file        *File
	states, all []string // the machine's Task states, and all of its states
	config      *mock.Config
	machine     string // in the mock configuration
}

// mocks reads a mock configuration of Step Functions Local.
func (p *parser) mocks(path string, open Opener) error {
	text, err := open.Text(path)
	if err != nil {
		return err
	}
	if p.config, err = mock.Parse(text); err != nil {
		return err
	}
	if machines := p.config.Machines(); p.machine == "" && len(machines) == 1 {
		p.machine = machines[0]
	}
	return nil
}

func (p *parser) test(v strictyaml.Value, open Opener) Test {
	o := v.Object("name", "input", "inputFile", "testCase", "mocks", "faults", "seed", "expect")
	t := Test{Name: o.Need("name").Text(200), Line: v.Line(), Input: testfile.Input(o, open.Text), Answers: map[string][]Answer{},
		Seed: uint64(o.Get("seed").WholeOr(1, 1, 1<<31-1))}
	for _, m := range o.Get("mocks").Members() {
		if p.known(m.Value, m.Name, p.states, "Task state") {
			t.Answers[m.Name] = answers(m.Value)
		}
	}
	if c := o.Get("testCase"); c.Present() {
		p.testCase(c, &t)
	}
	if list := o.Get("faults"); list.Present() {
		for _, one := range list.List(0, 100) {
			spec, err := faults.ParseSpec(one.Text(textSize), p.states...)
			if err != nil {
				one.Problem("%v", err)
				continue
			}
			t.Faults = append(t.Faults, spec)
		}
	}
	t.Expect = p.expect(o.Need("expect"))
	return t
}

// testCase uses the responses of a test case in the mock configuration.
func (p *parser) testCase(v strictyaml.Value, t *Test) {
	if p.config == nil {
		v.Problem("there is no mock configuration; name one with mocks, beside tests")
		return
	}
	in, err := p.config.Execution(p.machine, v.Text(textSize))
	if fitting, ok := in.(engine.Fitting); err == nil && ok {
		err = fitting.Fits(p.file.Text)
	}
	if err != nil {
		v.Problem("%v", err)
		return
	}
	t.Case = in
}

// known reports whether the machine has a state with this name. If not, it reports a problem at v.
func (p *parser) known(v strictyaml.Value, name string, among []string, kind string) bool {
	if slices.Contains(among, name) {
		return true
	}
	meant := ""
	if near := spelling.Nearest(name, among); near != "" {
		meant = "; did you mean " + near + "?"
	}
	v.Problem("the definition has no %s %s%s", kind, name, meant)
	return false
}

// answers reads the answers of a state: a list, or a single one.
func answers(v strictyaml.Value) []Answer {
	if v.IsObject() {
		return []Answer{answer(v)}
	}
	list := v.List(1, most)
	all := make([]Answer, 0, len(list))
	for _, one := range list {
		all = append(all, answer(one))
	}
	return all
}

func answer(v strictyaml.Value) Answer {
	o := v.Object("input", "return", "error", "cause", "hang", "times")
	a := Answer{Line: v.Line(), Return: o.Get("return").JSON(), Error: o.Get("error").Text(textSize), Cause: o.Get("cause").Text(textSize),
		Hang: o.Get("hang").Bool(), Times: testfile.Times(o.Get("times"))}
	if in := o.Get("input"); in.Present() {
		value := in.JSON()
		a.Input = &value
	}
	kinds := 0
	for _, name := range []string{"return", "error", "hang"} {
		if o.Get(name).Present() {
			kinds++
		}
	}
	if kinds != 1 {
		v.Problem("a response needs exactly one of return, error and hang")
	}
	return a
}

func (p *parser) expect(v strictyaml.Value) Expect {
	o := v.Object("status", "error", "cause", "output", "contains", "path", "entered", "never", "attempts", "waits", "took")
	x := Expect{Ending: Ending(testfile.ReadEnding(v, o, longest, "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")),
		Path: p.list(o.Get("path")), Entered: p.list(o.Get("entered")), Never: p.list(o.Get("never"))}
	for _, m := range o.Get("attempts").Members() {
		if p.known(m.Value, m.Name, p.states, "Task state") {
			x.Attempts = append(x.Attempts, Number{m.Name, m.Whole(0, 1_000_000)})
		}
	}
	for _, m := range o.Get("waits").Members() {
		if !p.known(m.Value, m.Name, p.all, "state") {
			continue
		}
		w := Waits{State: m.Name, Waits: []time.Duration{}}
		for _, one := range m.List(0, most) {
			w.Waits = append(w.Waits, one.Duration(0, longest))
		}
		x.Waits = append(x.Waits, w)
	}
	return x
}

// list reads the names of states. It returns nil if v is absent.
func (p *parser) list(v strictyaml.Value) []string {
	if !v.Present() {
		return nil
	}
	states := []string{}
	for _, one := range v.List(0, most) {
		if name := one.Text(textSize); p.known(one, name, p.all, "state") {
			states = append(states, name)
		}
	}
	return states
}

// each calls visit for every state of a graph and of the graphs inside its states.
func each(g *asl.Graph, visit func(*asl.State)) {
	for _, s := range g.States {
		visit(s)
		for _, b := range s.Branches {
			each(b, visit)
		}
		if s.Map != nil && s.Map.Processor != nil {
			each(s.Map.Processor, visit)
		}
	}
}

// names returns the names of all states.
func names(m *asl.Machine) (all []string) {
	each(&m.Graph, func(s *asl.State) { all = append(all, s.Name) })
	return all
}

// tasks returns the names of the Task states.
func tasks(m *asl.Machine) (all []string) {
	each(&m.Graph, func(s *asl.State) {
		if s.Type == asl.Task {
			all = append(all, s.Name)
		}
	})
	return all
}
