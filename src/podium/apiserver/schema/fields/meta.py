"""What all kinds share: metadata, owners, label selectors, conditions, options of a deletion.

The other files refer to these by name.
`schema/notation.py` explains the notation.
"""

TEXT = """
[meta]
ConditionStatus, DeletionPropagation, LabelSelectorOperator, ManagedFieldsOperationType = string
ObjectMeta
    name, generateName, namespace, selfLink string; uid UID; resourceVersion string;
    generation int64; creationTimestamp Time omitzero; deletionTimestamp *Time;
    deletionGracePeriodSeconds *int64; labels, annotations map[string]string;
    ownerReferences []OwnerReference{uid} merge; finalizers []string{} merge;
    managedFields *[]ManagedFieldsEntry
OwnerReference atomic
    apiVersion!, kind!, name! string; uid! UID; controller, blockOwnerDeletion *bool
ManagedFieldsEntry
    manager string; operation ManagedFieldsOperationType; apiVersion string; time *Time;
    fieldsType string; fieldsV1 *FieldsV1; subresource string
DeleteOptions object
    gracePeriodSeconds *int64; preconditions *Preconditions; orphanDependents *bool;
    propagationPolicy *DeletionPropagation; dryRun []string;
    ignoreStoreReadErrorWithClusterBreakingPotential *bool
Preconditions
    uid *UID; resourceVersion *string
ListMeta
    selfLink, resourceVersion, continue string; remainingItemCount *int64; shardInfo *ShardInfo
ShardInfo
    selector! string
LabelSelector atomic
    matchLabels map[string]string; matchExpressions []LabelSelectorRequirement
LabelSelectorRequirement
    key! string; operator! LabelSelectorOperator; values []string
Condition
    type! string; status! ConditionStatus; observedGeneration int64; lastTransitionTime! Time;
    reason!, message! string
"""
