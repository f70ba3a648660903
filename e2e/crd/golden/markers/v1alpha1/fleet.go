// Package v1alpha1 has an earlier version of a resource.
// +groupName=markers.golden.kctl.dev
// +versionName=v1alpha1
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fleet as it was in v1alpha1.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fleets,singular=fleet,shortName=fl;fls,categories=all;ships,scope=Cluster
// +kubebuilder:unservedversion
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	// +required
	Spec FleetSpec `json:"spec"`
}

// FleetSpec is what is wanted.
type FleetSpec struct {
	// How many.
	// +optional
	Count *int32 `json:"count,omitempty"`
}
