package client_test

import (
	"errors"
	"testing"

	"stepback/aws/client"
	"stepback/aws/model"
)

// FuzzAnswers lets services of all protocols respond with arbitrary data: it is either decoded or reported by an
// error.
func FuzzAnswers(f *testing.F) {
	f.Add(200, []byte(`{"Items":[{"a":{"M":{"b":{"L":[{"N":"1"},{"B":"aGk="},{"NULL":true}]}}}}],"Count":1}`))
	f.Add(400, []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"gone"}`))
	f.Add(200, []byte(`<ListTopicsResponse><ListTopicsResult><Topics><member><TopicArn>a</TopicArn></member></Topics>`+
		`</ListTopicsResult></ListTopicsResponse>`))
	f.Add(200, []byte(`<ListBucketResult><Contents><Key>k</Key><Size>1</Size></Contents></ListBucketResult>`))
	f.Add(404, []byte(`<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>`))
	f.Add(200, []byte("\xbf\x6cMetricAlarms\x9f\xbf\x69AlarmName\x61a\xff\xff\xff"))
	type operation struct {
		service, name string
		protocol      model.Protocol
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			t.Skip()
		}
		for _, o := range []operation{
			{"dynamodb", "Scan", model.JSON}, {"sns", "ListTopics", model.Query},
			{"s3", "ListObjectsV2", model.RESTXML},
			{"ec2", "DescribeInstances", model.EC2}, {"lambda", "GetFunction", model.RESTJSON},
			{"cloudwatch", "DescribeAlarms", model.CBOR},
		} {
			s := model.MustFind(o.service)
			found, err := s.Operation(o.name)
			if err != nil {
				t.Fatal(err)
			}
			c := caller(with(status, nil, body), "")
			c.Protocol = o.protocol
			a, err := c.Call(t.Context(), &client.Request{Service: s, Operation: found})
			var wrong *client.AnswerError
			var refused *client.Error
			if err == nil && a.Output.IsNull() || err != nil && !errors.As(err, &wrong) && !errors.As(err, &refused) {
				t.Errorf("%s: %v, %v", o.service, a, err)
			}
		}
	})
}
