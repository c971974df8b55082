package markup_test

import (
	"html/template"
	"io"
	"reflect"
	"strings"
	"testing"
	texttemplate "text/template"

	"pgregory.net/rapid"

	"stepback/local/console/markup"
)

type stringer struct{ n int }

func (s stringer) String() string { return strings.Repeat("<", s.n) }

type inner struct {
	Name  string
	Count uint8
}

type data struct {
	*inner
	Text   string
	URL    string
	Any    any
	Number int64
	Half   float64
	Yes    bool
	List   []inner
	None   []string
	Map    map[string]any
	Error  error
	Says   stringer
	Link   *inner
	Nil    *inner
	Size   int32
}

var functions = map[string]any{
	"twice": func(n int64) int64 { return 2 * n },
	"bold":  func(s string) markup.HTML { return markup.HTML("<b>" + s + "</b>") },
	"dict":  func(pairs ...any) map[string]any { return map[string]any{pairs[0].(string): pairs[1]} },
	"fails": func() (string, error) { return "", io.ErrUnexpectedEOF },
	"dies":  func() string { panic("dead") },
}

// both executes a template with html/template and, after html/template has escaped it, with a Set.
func both(t interface {
	Helper()
	Fatal(...any)
}, source string, d any) (want, got string, wantErr, gotErr error) {
	t.Helper()
	theirs := template.FuncMap{}
	for name, f := range functions {
		theirs[name] = f
	}
	theirs["bold"] = func(s string) template.HTML { return template.HTML("<b>" + s + "</b>") }
	page := template.Must(template.New("page").Funcs(theirs).Parse(source))
	var w strings.Builder
	wantErr = page.Execute(&w, d)
	text := "" // includes the templates that escaping derives, which only the inner template has
	for _, one := range (*texttemplate.Template)(reflect.ValueOf(page).Elem().FieldByName("text").UnsafePointer()).Templates() {
		text += `{{define "` + one.Name() + `"}}` + one.Root.String() + "{{end}}"
	}
	set, err := markup.New(functions).With("test", text)
	if err != nil {
		t.Fatal(source, err)
	}
	var g strings.Builder
	gotErr = set.Execute(&g, "page", d)
	return w.String(), g.String(), wantErr, gotErr
}

func someData() data {
	return data{inner: &inner{"in", 3}, Text: `a<b>&"'+c`, URL: "https://x/?a=b c&d=%41%4", Any: "any", Number: 7, Half: 0.5, Yes: true,
		List: []inner{{"one", 1}, {"<two>", 2}}, Map: map[string]any{"k": 1, "j": nil, "s": "<"}, Error: io.EOF, Says: stringer{2},
		Link: &inner{"link", 9}, Size: 4}
}

// TestAsHTMLTemplate compares the output of html/template with that of a Set.
func TestAsHTMLTemplate(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`{{.Text}} {{.Any}} {{.Number}} {{.Half}} {{.Yes}} {{.Error}} {{.Says}} {{.Map.k}} {{.Map.j}} {{.Map.gone}} {{.Map.s}}`,
		`<a href="{{.URL}}" title="{{.Text}}" class=x>{{.Name}} {{.Count}} {{.Link.Name}}</a><a href="/p?q={{.Text}}&amp;r={{.URL}}">`,
		`<a href="/{{.Text}}/{{.URL}}"><title>{{.Text}}</title><textarea>{{.Text}}</textarea>`,
		`<p title="{{.Link}}">{{.Nil}}{{.List}}{{.Map}}</p>`,
		`{{if .Yes}}a{{else}}b{{end}}{{if .None}}a{{else if .Nil}}b{{else}}c{{end}}{{if and .Yes .Nil}}x{{else}}{{or .None .Text}}{{end}}{{if .Link}}l{{end}}`,
		`{{with .Link}}{{.Name}}{{$.Text}}{{end}}{{with .Nil}}x{{else}}none{{end}}{{with $x := .Number}}{{$x}}{{end}}`,
		`{{range .List}}{{.Name}},{{end}}{{range $i, $e := .List}}{{$i}}={{$e.Count}};{{end}}{{range .None}}x{{else}}nobody{{end}}`,
		`{{range $k, $v := .Map}}{{$k}}:{{$v}} {{end}}{{range $e := .List}}{{$e.Name}}{{end}}`,
		`{{$a := 1}}{{if .Yes}}{{$a = 2}}{{$b := 3}}{{$b}}{{end}}{{$a}}`,
		`{{eq .Number 7}} {{eq .Text "x" "a"}} {{ne .Half 0.5}} {{lt .Number 8}} {{le .Count 3}} {{gt .Size 4}} {{ge .Name "a"}} {{not .Yes}} {{eq .Yes true}}`,
		`{{len .List}} {{len .Text}} {{index .List 1}} {{index .Map "k"}} {{(index .List 0).Name}} {{printf "%d-%s" .Number .Text}}`,
		`{{twice .Number}} {{twice 4}} {{.Number | twice | twice}} {{bold .Name}} {{(dict "a" .Text).a}} {{.Text | printf "%q"}}`,
		`{{define "row"}}<i title="{{.}}">{{.}}</i>{{end}}{{template "row" .Text}}{{range .List}}{{template "row" .Name}}{{end}}`,
		`{{define "id"}}{{.}}{{end}}<p>{{template "id" .Text}}</p><p title="{{template "id" .Text}}">`,
	} {
		want, got, wantErr, gotErr := both(t, source, someData())
		if wantErr != nil || gotErr != nil || got != want {
			t.Errorf("%s:\n%s, %v; html/template:\n%s, %v", source, got, gotErr, want, wantErr)
		}
	}
}

// TestEscapers writes random texts in every context.
func TestEscapers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z]{0,10}:/{0,2}[ -~]{0,20}`), rapid.StringMatching(`[%0-9a-fA-F+&"'<>\x00\xff]*`)).
			Draw(t, "text")
		const source = `<p title="{{.}}">{{.}}<a href="{{.}}"><a href="/x/{{.}}?q={{.}}"><a href='{{.}}'><textarea>{{.}}</textarea>`
		want, got, wantErr, gotErr := both(t, source, text)
		if wantErr != nil || gotErr != nil || got != want {
			t.Fatalf("%q:\n%s, %v; html/template:\n%s, %v", text, got, gotErr, want, wantErr)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	set, err := markup.New(functions).With("page.html", `{{define "a"}}
{{.Gone | _html_template_htmlescaper}}{{end}}{{define "b"}}{{.Text}}{{end}}{{define "c"}}{{.Says.String | _html_template_htmlescaper}}{{end}}
{{define "d"}}{{.Nil.Name | _html_template_htmlescaper}}{{end}}{{define "e"}}{{template "z"}}{{end}}{{define "f"}}{{fails | _html_template_htmlescaper}}{{end}}
{{define "g"}}{{dies | _html_template_htmlescaper}}{{end}}{{define "h"}}{{twice .Text | _html_template_htmlescaper}}{{end}}{{define "i"}}{{template "i"}}{{end}}
{{define "j"}}{{range .Number}}{{end}}{{end}}{{define "k"}}{{index .List 2 | _html_template_htmlescaper}}{{end}}{{define "l"}}{{lt .Text 1 | _html_template_htmlescaper}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": `: at <.Gone>: a markup_test.data has no field Gone, and methods are not called`,
		"b": `: at <{{.Text}}>: nothing has escaped this value`,
		"c": `: at <.Says.String>: a markup_test.stringer has no field String, and methods are not called`,
		"d": `: at <.Nil.Name>: nothing is there to have a Name`,
		"e": `: at <{{template "z"}}>: template "z" is not defined`,
		"f": `: at <fails>: fails: unexpected EOF`,
		"g": `: at <dies>: dies: panic: dead`,
		"h": `: at <twice>: a string is no int64`,
		"i": `templates call each other more than 1000 deep`,
		"j": `range cannot go through a int64`,
		"k": `index: there are 2 elements, and none at 2`,
		"l": `lt: string and int cannot be compared`,
		"y": `template "y" is not defined`,
	} {
		if err := set.Execute(io.Discard, name, someData()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := set.With("more", `{{define "a"}}{{end}}`); err == nil || err.Error() != `template "a" is defined twice` {
		t.Error(err)
	}
	if _, err := set.With("more", `{{define "q"}}{{nobody}}{{end}}`); err == nil {
		t.Error("a function is called that is not there")
	}
}
