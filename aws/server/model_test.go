package server

import (
	"testing"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/aws/model/botocore"
)

// greeterModel is the model, in botocore's format, of a service that exists only in tests.
const greeterModel = `{
"metadata":{"serviceId":"Greeter","protocol":"json","protocols":["json"],"targetPrefix":"Greeter","jsonVersion":"1.0",
 "apiVersion":"2026-11-22","endpointPrefix":"greeter"},
"operations":{
 "Greet":{"name":"Greet","http":{"method":"POST","requestUri":"/"},"input":{"shape":"GreetInput"},
  "output":{"shape":"GreetOutput"},"errors":[{"shape":"ConflictException"},{"shape":"TiredFault"}]},
 "Check":{"name":"Check","http":{"method":"POST","requestUri":"/"},"input":{"shape":"CheckInput"}},
 "Wave":{"name":"Wave","http":{"method":"POST","requestUri":"/"}}},
"shapes":{
 "ConflictException":{"type":"structure","exception":true,"members":{"message":{"shape":"Text"},"reason":{"shape":"Text"}}},
 "TiredFault":{"type":"structure","exception":true,"fault":true,"error":{"code":"Tired","httpStatusCode":503},
  "members":{"Message":{"shape":"Text"}}},
 "GreetInput":{"type":"structure","required":["name"],"members":{"name":{"shape":"Text"}}},
 "GreetOutput":{"type":"structure","members":{"text":{"shape":"Text"},"at":{"shape":"Time"}}},
 "Text":{"type":"string"},"Time":{"type":"timestamp"},
 "CheckInput":{"type":"structure","required":["name"],"members":{
  "name":{"shape":"Name"},"status":{"shape":"Status"},"maxResults":{"shape":"Results"},"share":{"shape":"Share"},
  "publish":{"shape":"Flag"},"keys":{"shape":"Keys"},"tags":{"shape":"Tags"},"labels":{"shape":"Labels"},"weights":{"shape":"Weights"},
  "secret":{"shape":"Secret"},"data":{"shape":"Data"},"trace":{"shape":"Trace"},"routes":{"shape":"Routes"},
  "Upper":{"shape":"Name"}}},
 "Name":{"type":"string","min":1,"max":5,"pattern":"[a-z]*"},
 "Status":{"type":"string","enum":["ON","OFF"]},
 "Results":{"type":"integer","min":1,"max":1000},"Share":{"type":"double","max":100},"Flag":{"type":"boolean"},
 "Keys":{"type":"list","min":1,"max":2,"member":{"shape":"Key"}},"Key":{"type":"string","min":1},
 "Tags":{"type":"list","max":7,"member":{"shape":"Tag"}},
 "Tag":{"type":"structure","required":["key"],"members":{"key":{"shape":"Key"},"v":{"shape":"Text"}}},
 "Weights":{"type":"map","key":{"shape":"Digits"},"value":{"shape":"Weight1"}},"Digits":{"type":"string","max":9,"min":1,"pattern":"[0-9]+"},"Weight1":{"type":"double","max":1.0,"min":0.0},
"Labels":{"type":"map","max":2,"key":{"shape":"Text"},"value":{"shape":"Label"}},"Label":{"type":"string","max":3},
 "Secret":{"type":"string","max":7,"sensitive":true},"Data":{"type":"string","max":5},
 "Trace":{"type":"structure","required":["enabled"],"members":{"enabled":{"shape":"Flag"}}},
 "Routes":{"type":"list","max":1,"member":{"shape":"Route"}},
 "Route":{"type":"structure","members":{"to":{"shape":"Text"},"weight":{"shape":"Integer"}}},
 "Integer":{"type":"integer"}
}}`

// greeter returns the model with the given protocols.
func greeter(t testing.TB, protocols ...model.Protocol) *model.Service {
	t.Helper()
	_, file, err := botocore.Convert(greeterModel)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Parse("greeter", file)
	if err != nil {
		t.Fatal(err)
	}
	if len(protocols) > 0 {
		m.Protocols = protocols
	}
	return m
}

// serve returns the service of a test.
func serve(t testing.TB, cfg Config, protocols ...model.Protocol) *Service {
	t.Helper()
	cfg.Default = aws.Scope{Account: "000000000000", Region: "us-east-1"}
	s, err := newService(cfg, greeter(t, protocols...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
