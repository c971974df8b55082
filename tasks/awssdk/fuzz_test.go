package awssdk

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"stepback/asl/jsonvalue"
)

// FuzzDecode feeds parameters of any shape to an input with maps, lists, unions, numbers and bytes: whatever they are,
// they are taken or refused.
func FuzzDecode(f *testing.F) {
	f.Add(`{"TableName":"t","Item":{"a":{"S":"x"},"b":{"M":{"c":{"L":[{"BOOL":true}]}}},"d":{"B":"aGk="}}}`)
	f.Add(`{"Item":{"a":{"S":1,"N":2}},"ReturnValues":[],"Expected":{"x":{"Exists":"no"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			t.Skip()
		}
		d := decoder{service: service("dynamodb")}
		in := &dynamodb.PutItemInput{}
		d.object(reflect.ValueOf(in).Elem(), v, "Parameters")
		e := encoder{d.service, sdkStyle}
		if _, err := e.object(reflect.ValueOf(in).Elem()); err != nil {
			t.Error(err)
		}
	})
}
