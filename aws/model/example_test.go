package model_test

import (
	"fmt"

	"stepback/aws/model"
)

// What the model of DynamoDB says of an operation, and what is said of a name that there is not.
func ExampleFind() {
	s, err := model.Find("dynamodb")
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := s.Operation("PutItem")
	if err != nil {
		fmt.Println(err)
		return
	}
	table := o.Input.Member("TableName")
	fmt.Println(s.Class, s.Protocols, table.Required, *table.Shape.Max)
	_, err = model.Find("dynamodbs")
	fmt.Println(err)
	// Output:
	// DynamoDb [json] true 1024
	// there is no AWS service "dynamodbs"; did you mean dynamodb, dynamodbstreams?
}
