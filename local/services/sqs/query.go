package sqs

import (
	"mime"
	"net/http"

	"stepback/aws/model"
	"stepback/aws/server"
)

// queryNames are the names of the API as it was before 2023, in Query, which clients of that time still speak.
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

// queryNamespace is that of answers in Query.
const queryNamespace = "http://queue.amazonaws.com/doc/2012-11-05/"

// API is the API in both of its protocols.
type API struct{ newer, older *server.Service }

// API returns the API in JSON and, for older clients, in Query.
func (s *Service) API() API {
	cfg := s.config()
	older, err := server.NewOf(cfg, model.MustFind(cfg.Model).AsQuery(queryNamespace, queryNames))
	if err != nil {
		panic(err) // it has the operations of the newer one
	}
	return API{s.Handler(), older}
}

// Coverage tells which operations are served.
func (a API) Coverage() server.Coverage { return a.newer.Coverage() }

// ServeHTTP implements http.Handler.
func (a API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := err == nil && media == "application/x-www-form-urlencoded" && r.Header.Get("X-Amz-Target") == ""
	if form || r.Method == http.MethodGet && r.URL.Query().Has("Action") {
		a.older.ServeHTTP(w, r)
		return
	}
	a.newer.ServeHTTP(w, r)
}
