package clientschemas_test

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/model/clientschemas"
)

const base = `{"serviceId":"Greeter","endpointPrefix":"greeter","protocols":["rest-json"],"errors":{}}
o Greet {"http":{"method":"POST","requestUri":"/greet","responseCode":200},"input":{"shape":"GreetRequest"},"output":{"shape":"GreetResponse"}}
s Card {"type":"structure","members":{"Text":{"shape":"Name"}}}
s CardList {"type":"list","member":{"shape":"Card"}}
s GreetRequest {"type":"structure","required":["Name"],"members":{"Name":{"shape":"Name"},"Cards":{"shape":"CardList"}}}
s GreetResponse {"type":"structure","members":{"Text":{"shape":"Name"}}}
s Name {"type":"string","min":1,"max":20}
`

const schemas = `{"package":"@aws-sdk/client-greeter","version":"3.1.0","serviceId":"Greeter","operations":{
 "Greet":{"traits":{"http":["POST","/greet",200]},"input":"GreetInput","output":"GreetResponse"},
 "Part":{"traits":{"http":["DELETE","/greetings/{Id}",204]},"input":"PartRequest"}},
"shapes":{
 "GreetInput":{"kind":3,"traits":{},"members":[{"name":"Name","type":"string"},{"name":"Cards","shape":"Cards"},{"name":"Count","type":"number","traits":{"httpQuery":"count"}}],"required":["Name"]},
 "Cards":{"kind":1,"traits":{},"element":{"shape":"Card"}},
 "Card":{"kind":3,"traits":{},"members":[{"name":"Text","type":"string"},{"name":"Colors","list":{"type":"string"}},{"name":"Next","shape":"Card"}],"required":[]},
 "GreetResponse":{"kind":3,"traits":{},"members":[{"name":"Text","type":"string"}],"required":[]},
 "PartRequest":{"kind":3,"traits":{},"members":[{"name":"Id","type":"string","traits":{"httpLabel":1}},{"name":"At","type":"timestamp","timestampFormat":"iso8601"},{"name":"Notes","map":{"type":"boolean"}},{"name":"Why","shape":"Reason"}],"required":["Id"]},
 "Reason":{"kind":4,"traits":{},"members":[{"name":"Bored","type":"boolean"}],"required":[]}}}`

func TestAdd(t *testing.T) {
	t.Parallel()
	var c clientschemas.Client
	if err := json.Unmarshal([]byte(schemas), &c); err != nil {
		t.Fatal(err)
	}
	file, added, err := clientschemas.Add(base, &c)
	want := "member GreetRequest.Count, member Card.Colors, member Card.Next, operation Part"
	sorted := strings.Join(added, ", ")
	for _, one := range strings.Split(want, ", ") {
		if !strings.Contains(sorted, one) {
			t.Errorf("%s is missing in %s", one, sorted)
		}
	}
	if err != nil || len(added) != 4 || c.Service() != "greeter" {
		t.Fatalf("%s, %v", sorted, err)
	}
	s, err := model.Parse("greeter", file)
	if err != nil {
		t.Fatal(err)
	}
	greet, err := s.Operation("Greet")
	if err != nil {
		t.Fatal(err)
	}
	name, count := greet.Input.Member("Name"), greet.Input.Member("Count")
	if name == nil || !name.Required || *name.Shape.Max != 20 || count == nil || count.Location != model.InQuery ||
		count.LocationName != "count" || count.Shape.Type != model.Long {
		t.Errorf("%+v %+v", name, count)
	}
	card := greet.Input.Member("Cards").Shape.Element.Shape
	if card.Member("Colors").Shape.Element.Shape.Type != model.String || card.Member("Next").Shape != card {
		t.Errorf("%+v", card)
	}
	part, err := s.Operation("Part")
	if err != nil {
		t.Fatal(err)
	}
	id, at, notes := part.Input.Member("Id"), part.Input.Member("At"), part.Input.Member("Notes")
	if !id.Required || id.Location != model.InPath || at.Shape.TimestampFormat != model.ISO8601 ||
		notes.Shape.Type != model.Map || !part.Input.Member("Why").Shape.Union ||
		part.Status != 204 {
		t.Errorf("%+v %+v %+v", id, at, notes)
	}
	again, more, err := clientschemas.Add(file, &c)
	if err != nil || len(more) != 0 || again != file {
		t.Errorf("again: %v, %v", more, err)
	}
}
