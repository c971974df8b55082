package grpcretry_test

import (
	"fmt"

	"stepback/resilience/grpcretry"
	"stepback/retry"
)

func ExampleServiceConfig() {
	api, _ := retry.PresetNamed("external_api")
	config, notes, err := grpcretry.ServiceConfig([]grpcretry.Method{
		{Service: "shop.Orders", Policy: api.Policy},
	}, grpcretry.StandardThrottle())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config)
	for _, n := range notes {
		fmt.Println("note:", n)
	}
	// Output:
	// {
	//   "methodConfig": [
	//     {
	//       "name": [
	//         {
	//           "service": "shop.Orders"
	//         }
	//       ],
	//       "retryPolicy": {
	//         "maxAttempts": 4,
	//         "initialBackoff": "1s",
	//         "maxBackoff": "30s",
	//         "backoffMultiplier": 2,
	//         "retryableStatusCodes": [
	//           "RESOURCE_EXHAUSTED",
	//           "UNAVAILABLE"
	//         ]
	//       }
	//     }
	//   ],
	//   "retryThrottling": {
	//     "maxTokens": 10,
	//     "tokenRatio": 0.1
	//   }
	// }
	// note: shop.Orders: jitter FULL becomes gRPC's own, ±20 %
}
