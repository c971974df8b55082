package sns

import (
	"encoding/xml"
	"net/http"
	"strconv"

	"stepback/aws"
)

// element is a piece of an answer.
type element struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Content []any
}

// metadata ends an answer.
type metadata struct {
	XMLName   xml.Name `xml:"ResponseMetadata"`
	RequestID string   `xml:"RequestId"`
}

// refusal is the answer of an operation that failed.
type refusal struct {
	XMLName   xml.Name `xml:"http://sns.amazonaws.com/doc/2010-03-31/ ErrorResponse"`
	Error     failure
	RequestID string `xml:"RequestId"`
}

type failure struct{ Type, Code, Message string }

// result is the element that holds what an operation answers.
func result(action string, content ...any) element {
	return element{XMLName: xml.Name{Local: action + "Result"}, Content: content}
}

func field(name, text string) element { return element{XMLName: xml.Name{Local: name}, Text: text} }

// entries is a map as the query protocol writes one.
func entries(name string, pairs [][2]string) element {
	e := element{XMLName: xml.Name{Local: name}}
	for _, p := range pairs {
		e.Content = append(e.Content, element{XMLName: xml.Name{Local: "entry"},
			Content: []any{field("key", p[0]), field("value", p[1])}})
	}
	return e
}

func refuse(w http.ResponseWriter, id string, e *aws.Error) {
	fault := "Sender"
	if e.ByServer() {
		fault = "Receiver"
	}
	write(w, e.HTTPStatus(), id, refusal{Error: failure{fault, e.Code, e.Message}, RequestID: id})
}

func write(w http.ResponseWriter, status int, id string, answer any) {
	body, err := xml.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	h := w.Header()
	h.Set("Content-Type", "text/xml")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Amzn-Requestid", id)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}
