package model_test

import (
	"fmt"

	"stepback/aws/model"
)

// Reads an operation from the model of DynamoDB, and shows the error for an unknown name.
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
