package sqs

import (
	"mime"
	"net/http"
	"strings"

	"stepback/aws/model"
	"stepback/aws/server"
)

// queryNames holds the names used in the Query protocol, the API before 2023, which older clients still use.
var queryNames = model.QueryNames{
	"ActionNameList": {Name: "ActionName"}, "AWSAccountIdList": {Name: "AWSAccountId"},
	"AttributeNameList": {Name: "AttributeName"}, "MessageAttributeNameList": {Name: "MessageAttributeName"},
	"MessageSystemAttributeList": {Name: "MessageSystemAttributeName"}, "BatchResultErrorEntryList": {Name: "BatchResultErrorEntry"},
	"ChangeMessageVisibilityBatchRequestEntryList": {Name: "ChangeMessageVisibilityBatchRequestEntry"},
	"ChangeMessageVisibilityBatchResultEntryList":  {Name: "ChangeMessageVisibilityBatchResultEntry"},
	"DeleteMessageBatchRequestEntryList":           {Name: "DeleteMessageBatchRequestEntry"},
	"DeleteMessageBatchResultEntryList":            {Name: "DeleteMessageBatchResultEntry"},
	"SendMessageBatchRequestEntryList":             {Name: "SendMessageBatchRequestEntry"},
	"SendMessageBatchResultEntryList":              {Name: "SendMessageBatchResultEntry"},
	"ListMessageMoveTasksResultEntryList":          {Name: "ListMessageMoveTasksResultEntry"},
	"MessageList":                                  {Name: "Message"}, "QueueUrlList": {Name: "QueueUrl"}, "TagKeyList": {Name: "TagKey"},
	"StringList": {Name: "StringListValue"}, "BinaryList": {Name: "BinaryListValue"},
	"QueueAttributeMap":             {Name: "Attribute", Key: "Name", Value: "Value"},
	"MessageBodyAttributeMap":       {Name: "MessageAttribute", Key: "Name", Value: "Value"},
	"MessageSystemAttributeMap":     {Name: "Attribute", Key: "Name", Value: "Value"},
	"MessageBodySystemAttributeMap": {Name: "MessageSystemAttribute", Key: "Name", Value: "Value"},
	"TagMap":                        {Name: "Tag", Key: "Key", Value: "Value"},
}

// queryNamespace is the XML namespace of Query responses.
const queryNamespace = "http://queue.amazonaws.com/doc/2012-11-05/"

// API serves both protocols of the API.
type API struct{ newer, older *server.Service }

// API returns the API over JSON and, for older clients, over Query.
func (s *Service) API() API {
	cfg := s.config()
	older, err := server.NewOf(cfg, model.MustFind(cfg.Model).AsQuery(queryNamespace, queryNames))
	if err != nil {
		panic(err) // it has the same operations as the newer one
	}
	return API{s.Handler(), older}
}

// Coverage returns which operations are implemented.
func (a API) Coverage() server.Coverage { return a.newer.Coverage() }

// ServeHTTP implements http.Handler. In the Query protocol, the path of the request's URL names the queue unless the
// request has a parameter QueueUrl.
func (a API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if account, name, ok := strings.Cut(strings.Trim(r.URL.Path, "/"), "/"); ok && !strings.Contains(name, "/") {
		r = ofQueue(r, "/"+account+"/"+name)
	}
	form := err == nil && media == "application/x-www-form-urlencoded" && r.Header.Get("X-Amz-Target") == ""
	if form || r.Method == http.MethodGet && r.URL.Query().Has("Action") {
		a.older.ServeHTTP(w, r)
		return
	}
	a.newer.ServeHTTP(w, r)
}

// ofQueue returns the request with the parameter QueueUrl in its URL, unless it is there. A parameter in the form takes
// precedence.
func ofQueue(r *http.Request, queue string) *http.Request {
	query := r.URL.Query()
	if query.Has("QueueUrl") {
		return r
	}
	query.Set("QueueUrl", queue)
	made, u := *r, *r.URL
	u.RawQuery = query.Encode()
	made.URL = &u
	return &made
}
