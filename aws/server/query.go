package server

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// queryCodec implements Query and EC2's dialect of it: forms in, XML out.
type queryCodec struct{ ec2 bool }

func (queryCodec) contentType(*Service) string { return mediaText }

// maxForm is the size limit of a form before its action is known.
const maxForm = 4 * MaxBody

func (q queryCodec) operation(c *call) (string, error) {
	r := c.request
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	bare := r.Header.Get("Content-Type") == "" && r.ContentLength == 0 // the parameters are in the URL
	if r.Method == http.MethodPost && !bare && (err != nil || media != mediaForm) {
		return "", &aws.Error{Code: "InvalidAction", Message: "The content type of a request is " + mediaForm + "."}
	}
	action := r.URL.Query().Get("Action")
	if r.Method == http.MethodPost && !bare {
		body, err := c.body(maxForm)
		if err != nil {
			return "", err
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return "", &aws.Error{Code: "MalformedQueryString", Message: "The form could not be read: " + err.Error()}
		}
		r.PostForm, r.Body = form, http.NoBody
		if a := form.Get("Action"); a != "" {
			action = a
		}
	} else {
		r.PostForm = url.Values{}
	}
	// Services that formerly used Query had earlier versions. A missing version means the present one, as in the links
	// of SNS's mails.
	version := cmp.Or(r.PostForm.Get("Version"), r.URL.Query().Get("Version"))
	if m := c.service.model; action != "" && version != "" && version != m.APIVersion && !m.QueryCompatible && !q.ec2 {
		return "", &aws.Error{Code: "InvalidAction", Message: "Could not find operation " + action + " for version " + version}
	}
	if !c.service.model.Has(action) {
		if action == "" {
			return "", &aws.Error{Code: "InvalidAction", Message: "The request has no Action."}
		}
		refused := c.service.unknown(action, "InvalidAction", http.StatusBadRequest)
		refused.Message = "Could not find operation " + action + " for version " + c.service.model.APIVersion + ". " + refused.Message
		return "", refused
	}
	return action, nil
}

func (q queryCodec) read(c *call, _ []byte, to *Request) error {
	reader := form(q)
	root := &formNode{}
	for _, values := range []url.Values{c.request.URL.Query(), c.request.PostForm} {
		for key, v := range values {
			if err := root.put(key, v[0]); err != nil {
				return err
			}
		}
	}
	if c.op.input == nil {
		to.Input = jsonvalue.NewObject(0).Value()
		return nil
	}
	v, err := reader.structure(c.op.input.shape, root)
	to.Input = v
	return err
}

// formNode is a node of a parsed form. The name List.1.Name leads from the root to its child List, from there to
// the child 1, and from there to the child Name.
type formNode struct {
	text     string
	has      bool
	children map[string]*formNode
}

// maxParts is the maximum number of parts of a name in a form.
const maxParts = 200

func (f *formNode) put(key, text string) error {
	if strings.Count(key, ".") > maxParts {
		return malformed("A parameter nests too deeply.")
	}
	at := f
	for part := range strings.SplitSeq(key, ".") {
		next := at.children[part]
		if next == nil {
			if at.children == nil {
				at.children = map[string]*formNode{}
			}
			next = &formNode{}
			at.children[part] = next
		}
		at = next
	}
	at.text, at.has = text, true
	return nil
}

// numbered returns the children with numeric names, in order.
func (f *formNode) numbered() []*formNode {
	if f == nil {
		return nil
	}
	var numbers []int
	for name := range f.children {
		if n, err := strconv.Atoi(name); err == nil && n >= 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	list := make([]*formNode, len(numbers))
	for i, n := range numbers {
		list[i] = f.children[strconv.Itoa(n)]
	}
	return list
}

func (f *formNode) child(name string) *formNode {
	if f == nil {
		return nil
	}
	at := f
	for part := range strings.SplitSeq(name, ".") {
		if at = at.children[part]; at == nil {
			return nil
		}
	}
	return at
}

// form decodes documents from forms.
type form struct{ ec2 bool }

// name returns a member's name in a form.
func (f form) name(m *model.Member) string {
	switch {
	case f.ec2 && m.QueryName != "":
		return m.QueryName
	case f.ec2:
		n := wireName(m)
		return strings.ToUpper(n[:1]) + n[1:]
	case m.Flat() && m.Shape.Type == model.List:
		return flatName(m)
	default:
		return wireName(m)
	}
}

func (f form) structure(s *model.Shape, at *formNode) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(len(s.Members))
	for _, m := range s.Members {
		child := at.child(f.name(m))
		if child == nil {
			continue
		}
		v, err := f.value(m.Shape, m.Flat() || f.ec2, child)
		if err != nil {
			return v, err
		}
		b.Set(m.Name, v)
	}
	return b.Value(), nil
}

func (f form) value(s *model.Shape, flat bool, at *formNode) (jsonvalue.Value, error) {
	switch s.Type {
	case model.Structure:
		return f.structure(s, at)
	case model.List:
		return f.list(s, flat, at)
	case model.Map:
		return f.dictionary(s, flat, at)
	default:
		return fromText(s, at.text, "")
	}
}

func (f form) list(s *model.Shape, flat bool, at *formNode) (jsonvalue.Value, error) {
	if !flat {
		name := "member"
		if n := s.Element.LocationName; n != "" {
			name = n
		}
		if at.child(name) != nil {
			at = at.child(name)
		} else {
			at = at.child("member")
		}
	}
	elements := []jsonvalue.Value{}
	for _, e := range at.numbered() {
		v, err := f.value(s.Element.Shape, f.ec2 || s.Element.Flat(), e)
		if err != nil {
			return v, err
		}
		elements = append(elements, v)
	}
	return jsonvalue.OfArray(elements), nil
}

func (f form) dictionary(s *model.Shape, flat bool, at *formNode) (jsonvalue.Value, error) {
	if !flat {
		at = at.child("entry")
	}
	key, value := "key", "value"
	if n := s.Key.LocationName; n != "" {
		key = n
	}
	if n := s.Element.LocationName; n != "" {
		value = n
	}
	b := jsonvalue.NewObject(0)
	for _, e := range at.numbered() {
		name, content := e.child(key), e.child(value)
		if name == nil || content == nil {
			continue
		}
		v, err := f.value(s.Element.Shape, s.Element.Flat(), content)
		if err != nil {
			return v, err
		}
		b.Set(name.text, v)
	}
	return b.Value(), nil
}

func (q queryCodec) write(c *call, a *Answer, to *reply) error {
	v, err := a.Document()
	if err != nil {
		return err
	}
	name, uri := c.op.model.Name+"Response", c.service.model.XMLNamespace
	x := xmlWriter{ec2: q.ec2}
	x.start(name, attribute{"xmlns", uri})
	if q.ec2 {
		x.text("requestId", c.id)
	}
	if c.op.output != nil {
		result := c.op.model.Name + "Result"
		if !q.ec2 {
			x.start(result)
		}
		x.members(c.op.output.shape, v)
		if !q.ec2 {
			x.end(result)
		}
	}
	if !q.ec2 {
		x.start("ResponseMetadata")
		x.text("RequestId", c.id)
		x.end("ResponseMetadata")
	}
	x.end(name)
	to.body = x.bytes()
	return nil
}

func (q queryCodec) fail(c *call, f *fault, to *reply) {
	var x xmlWriter
	if q.ec2 {
		x.start("Response")
		x.start("Errors")
	} else {
		x.start("ErrorResponse", attribute{"xmlns", c.service.model.XMLNamespace})
	}
	x.start("Error")
	if !q.ec2 {
		x.text("Type", f.sender())
	}
	x.fault(f)
	if c.service.cfg.Words.QueryDetail {
		x.empty("Detail")
	}
	x.end("Error")
	if q.ec2 {
		x.end("Errors")
		x.text("RequestID", c.id)
		x.end("Response")
	} else {
		x.text("RequestId", c.id)
		x.end("ErrorResponse")
	}
	to.body = x.bytes()
}
