package Names;

# What kanon calls its functions, arguments and columns: here and nowhere else.

use strict;
use warnings;

our %function = map { $_ => "kanon_$_" }
  qw(pattern_guided pattern_clustering full_domain subtree cluster freeform rules check risk risk_columns
  check_freeform distinct_l entropy_l recursive_cl alpha t_closeness subject k_map delta_presence presence alpha_beta synthetic
  frontier explain transactions check_transactions anatomy
  hierarchy_interval hierarchy_prefix hierarchy_date hierarchy_quantile);

# Arguments, by what the checker calls them.
our %argument = map { $_ => $_ }
  qw(source target quasi_identifiers k patterns keep weights method categorical residual mark replace
  dry_run rules seed effort class_column hierarchies level_cost privacy suppression_limit metric algorithm
  explore show time_limit never always at_most_one together max_suppressed sensitive subject population
  threshold partition_size partition_by relation allow_identifying mutual k_column known ks items m p h rho hierarchy
  quasi_target sensitive_target l view scheme columns d gamma domains epsilon delta rows presence);
$argument{pattern_list} = 'patterns';
$argument{algorithm} = 'method';

# Columns of results that are called otherwise here.
our %column = (node => 'pattern');

# kanon_name(argument => value, …): values are SQL already.
sub call
{
	my ($function, @arguments) = @_;
	my @list;
	while (my ($name, $value) = splice(@arguments, 0, 2))
	{
		push @list, ($argument{$name} // die "no argument $name") . " => $value" if defined $value;
	}
	return ($function{$function} // die "no function $function") . '(' . join(', ', @list) . ')';
}

our %view = (
	runs => 'kanon_usefulness',
	columns => 'kanon_columns',
	classes => 'kanon_equivalence_classes',
	sizes => 'kanon_class_sizes',
	risk => 'kanon_run_risk');
our $mark_column = 'kanon_pattern';

1;
