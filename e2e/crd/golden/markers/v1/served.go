package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fleet has what can be said of a resource besides its schema.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=fleets,singular=fleet,shortName=fl;fls,categories=all;ships,scope=Cluster
// +kubebuilder:printcolumn:name="Wanted",type=integer,JSONPath=`.spec.replicas`,description="How many are wanted",format=int32
// +kubebuilder:printcolumn:name="Color",type=string,JSONPath=`.spec.color`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
// +kubebuilder:selectablefield:JSONPath=`.spec.replicas`
// +kubebuilder:metadata:annotations="example.com/owner=ships",labels="app=fleet"
// +kubebuilder:storageversion
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	// +required
	Spec FleetSpec `json:"spec"`
	// What is there.
	// +optional
	Status FleetStatus `json:"status,omitempty"`
}

// FleetSpec is what is wanted.
type FleetSpec struct {
	// How many.
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Which color.
	// +required
	Color string `json:"color"`
}

// FleetStatus is what is there.
type FleetStatus struct {
	// How many there are.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Which they are.
	// +optional
	Selector string `json:"selector,omitempty"`
}
