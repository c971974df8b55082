package awssdk_test

import "testing"

// BenchmarkGetItem is a task that reads an item, without a network: what shaping and the SDK cost.
func BenchmarkGetItem(b *testing.B) {
	c := caller("dynamodb", &fake{body: `{"Item":{"id":{"S":"1"},"n":{"N":"7"},"l":{"L":[{"S":"a"},{"BOOL":true}]}}}`})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := invoke(c, "dynamodb:getItem", `{"TableName":"t","Key":{"id":{"S":"1"}}}`); err != nil {
			b.Fatal(err)
		}
	}
}
