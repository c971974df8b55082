package awssdk_test

import "testing"

// BenchmarkGetItem runs a task that reads an item, without a network. It measures the cost of converting the data and
// of the SDK.
func BenchmarkGetItem(b *testing.B) {
	c := caller("dynamodb", &fake{body: `{"Item":{"id":{"S":"1"},"n":{"N":"7"},"l":{"L":[{"S":"a"},{"BOOL":true}]}}}`})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := invoke(c, "dynamodb:getItem", `{"TableName":"t","Key":{"id":{"S":"1"}}}`); err != nil {
			b.Fatal(err)
		}
	}
}
