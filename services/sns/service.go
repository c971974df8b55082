package sns

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// maxForm is how large a request may be, in bytes: a message of the largest size, each byte written as three.
const maxForm = 3*MaxMessageBytes + 64<<10

// namespace is that of SNS's answers.
const namespace = "http://sns.amazonaws.com/doc/2010-03-31/"

// Handler serves the API: forms in, XML out.
func (t *Topics) Handler() http.Handler { return http.HandlerFunc(t.serve) }

func (t *Topics) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id := aws.NewID()
	if err := r.ParseForm(); err != nil {
		refuse(w, id, &aws.Error{Code: "InvalidParameter", Status: http.StatusBadRequest,
			Message: "Invalid parameter: the request is no form: " + err.Error()})
		return
	}
	result, err := t.answer(r)
	if err != nil {
		var api *aws.Error
		if !errors.As(err, &api) {
			api = internal("The service failed", err)
		}
		refuse(w, id, api)
		return
	}
	name := r.Form.Get("Action")
	write(w, http.StatusOK, id, element{
		XMLName: xml.Name{Space: namespace, Local: name + "Response"},
		Content: []any{result, metadata{RequestID: id}},
	})
}

// answer carries out the operation that a request asks for.
func (t *Topics) answer(r *http.Request) (any, error) {
	scope, form := server.ScopeOf(r, t.opts.Scope), r.Form
	switch action := form.Get("Action"); action {
	case "CreateTopic":
		arn, err := t.CreateTopic(scope, form.Get("Name"))
		return result(action, field("TopicArn", arn)), err
	case "DeleteTopic":
		return nil, t.DeleteTopic(form.Get("TopicArn"))
	case "GetTopicAttributes":
		return t.attributes(form.Get("TopicArn"))
	case "ListTopics":
		return t.listTopics(scope, form.Get("NextToken"))
	case "Publish":
		arn := form.Get("TopicArn")
		if arn == "" {
			arn = form.Get("TargetArn")
		}
		message, err := t.Publish(r.Context(), PublishInput{TopicARN: arn, Subject: form.Get("Subject"),
			Message: form.Get("Message")})
		return result(action, field("MessageId", message)), err
	default:
		return nil, &aws.Error{Code: "InvalidAction", Status: http.StatusBadRequest,
			Message: "Could not find operation " + action + " for version 2010-03-31"}
	}
}

// attributes answers GetTopicAttributes with what does not have to be made up.
func (t *Topics) attributes(arn string) (any, error) {
	if !t.exists(arn) {
		return nil, &aws.Error{Code: "NotFound", Message: "Topic does not exist", Status: http.StatusNotFound}
	}
	owner := strings.Split(arn, ":")[4]
	return result("GetTopicAttributes", entries("Attributes", [][2]string{{"TopicArn", arn}, {"Owner", owner}})), nil
}

// pageSize is how many topics ListTopics answers at once.
const pageSize = 100

// listTopics answers a page of the topics; the token is the number of those before it.
func (t *Topics) listTopics(scope aws.Scope, token string) (any, error) {
	arns, from := t.of(scope), 0
	if token != "" {
		var err error
		if from, err = strconv.Atoi(token); err != nil || from < 0 || from > len(arns) {
			return nil, invalidParameter("NextToken")
		}
	}
	to := min(from+pageSize, len(arns))
	list := element{XMLName: xml.Name{Local: "Topics"}}
	for _, arn := range arns[from:to] {
		list.Content = append(list.Content, element{XMLName: xml.Name{Local: "member"},
			Content: []any{field("TopicArn", arn)}})
	}
	answered := []any{list}
	if to < len(arns) {
		answered = append(answered, field("NextToken", strconv.Itoa(to)))
	}
	return result("ListTopics", answered...), nil
}
