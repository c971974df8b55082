package model_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"stepback/aws/model"
)

func TestAllServices(t *testing.T) {
	t.Parallel()
	names := model.Services()
	if len(names) != 424 {
		t.Errorf("%d services", len(names))
	}
	var operations int
	for _, name := range names {
		s, err := model.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range s.Operations() {
			op, err := s.Operation(o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Protocols {
				b := s.Bind(p)
				if b.Operation(op) == nil || b.Turned(op) == nil {
					t.Errorf("%s %s: no schemas", name, o)
				}
			}
			operations++
		}
		for _, e := range s.Exceptions() {
			if shape := s.Exception(e); shape == nil || shape.Error == nil {
				t.Errorf("%s: %s is no error", name, e)
			}
		}
	}
	if operations != 18426 {
		t.Errorf("%d operations", operations)
	}
}

func TestDynamoDB(t *testing.T) {
	t.Parallel()
	s, err := model.Find("dynamodb")
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "DynamoDB" || s.Class != "DynamoDb" || s.TargetPrefix != "DynamoDB_20120810" || s.JSONVersion != "1.0" ||
		s.SigningName != "dynamodb" || s.APIVersion != "2012-08-10" || !s.Speaks(model.JSON) {
		t.Errorf("%+v", s)
	}
	o, err := s.Operation("PutItem")
	if err != nil {
		t.Fatal(err)
	}
	name := o.Input.Member("TableName")
	if !name.Required || *name.Shape.Min != 1 || *name.Shape.Max != 1024 || o.Input.Member("Expected").Required {
		t.Errorf("%+v", name)
	}
	value := o.Input.Member("Item").Shape.Element.Shape
	if value.Member("M").Shape.Element.Shape != value {
		t.Error("an attribute value does not hold itself")
	}
	if !slices.ContainsFunc(o.Errors, func(e *model.Shape) bool {
		return e.Name == "ConditionalCheckFailedException" && e.Error.Status == 400 && !e.Error.Fault
	}) {
		t.Error("no ConditionalCheckFailedException")
	}
	if e := s.Exception("InternalServerError"); e == nil || !e.Error.Fault || e.Error.Status != 500 {
		t.Errorf("%+v", e)
	}
}

func TestSimilarNames(t *testing.T) {
	t.Parallel()
	_, err := model.Find("dynamdb")
	var service *model.UnknownServiceError
	if !errors.As(err, &service) || err.Error() != `there is no AWS service "dynamdb"; did you mean dynamodb?` {
		t.Error(err)
	}
	_, err = model.MustFind("sqs").Operation("SendMesage")
	var operation *model.UnknownOperationError
	if !errors.As(err, &operation) || !strings.HasPrefix(err.Error(),
		`the service sqs has no operation "SendMesage"; did you mean SendMessage`) {
		t.Error(err)
	}
	if _, err := model.Find("zzzzzzzzz"); err.Error() != `there is no AWS service "zzzzzzzzz"` {
		t.Error(err)
	}
}

// One service can be loaded from many goroutines at once.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("models.zip")
	if err != nil {
		t.Fatal(err)
	}
	a, err := model.NewArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := a.Find("lambda")
			if err != nil {
				t.Error(err)
				return
			}
			for _, name := range s.Operations() {
				o, err := s.Operation(name)
				if err != nil {
					t.Error(err)
					return
				}
				s.Bind(model.RESTJSON).Operation(o)
			}
		})
	}
	wg.Wait()
}

func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	if _, err := model.NewArchive([]byte("no zip")); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"empty":           "",
		"no metadata":     "o PutItem {}\n",
		"a line":          `{"serviceId":"A","protocols":["json"]}` + "\nnonsense\n",
		"an unknown kind": `{"serviceId":"A","protocols":["json"]}` + "\nx A {}\n",
		"cut short":       `{"serviceId":"A","protocols":["json"]}` + "\no Do {\"http\":",
		"a missing shape": `{"serviceId":"A","protocols":["json"]}` + "\no Do {\"input\":{\"shape\":\"None\"}}\n",
		"an unknown type": `{"serviceId":"A","protocols":["json"]}` +
			"\no Do {\"input\":{\"shape\":\"S\"}}\ns S {\"type\":\"x\"}\n",
		"a list of naught": `{"serviceId":"A","protocols":["json"]}` +
			"\no Do {\"input\":{\"shape\":\"S\"}}\ns S {\"type\":\"list\"}\n",
		"an error that is none": `{"serviceId":"A","protocols":["json"]}` +
			"\no Do {\"errors\":[\"S\"]}\ns S {\"type\":\"structure\"}\n",
	} {
		a, err := model.NewArchive(archive(t, text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Find("a")
		if err == nil {
			_, err = s.Operation("Do")
		}
		if err == nil || !strings.Contains(err.Error(), "`make models` writes it anew") {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := archive(t, strings.Repeat("x", 1000))
	whole[40] ^= 0xff
	if a, err := model.NewArchive(whole); err == nil {
		if _, err := a.Find("a"); err == nil {
			t.Error("a changed byte goes unnoticed")
		}
	}
}

func archive(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestClassNames(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"DynamoDB": "DynamoDb", "SESv2": "SesV2", "IoTFleetWise": "IoTFleetWise", "IoT": "Iot", "XRay": "XRay",
		"CloudWatch Logs": "CloudWatchLogs", "Config Service": "Config",
		"Elastic Load Balancing v2": "ElasticLoadBalancingV2",
		"EC2":                       "Ec2", "SFN": "Sfn", "WAFV2": "Wafv2",
		"Database Migration Service": "DatabaseMigration",
		"MTurk":                      "MTurk",
		"Route 53":                   "Route53", "ApiGatewayV2": "ApiGatewayV2", "EMR containers": "EmrContainers",
		"S3":                          "S3",
		"Resource Groups Tagging API": "ResourceGroupsTaggingApi", "SSO OIDC": "SsoOidc", "ECR PUBLIC": "EcrPublic",
		"GameLift": "GameLift", "FSx": "FSx", "QLDB Session": "QldbSession", "Lex Models V2": "LexModelsV2",
	} {
		if got := model.ClassName(id); got != want {
			t.Errorf("%s becomes %s, want %s", id, got, want)
		}
	}
}
