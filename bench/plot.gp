# Draws bench/results/*.tsv: gnuplot -e "dir='bench/results'" bench/plot.gp
set datafile separator "\t"
set style fill solid 0.9 noborder
set border 3 lc rgb "#888888"
set tics nomirror textcolor rgb "#333333"
set grid x lc rgb "#dddddd"

# Each line: a measured value as a share of what must be reached, so that lines of
# different size can stand below each other; a mark where the aim is.
set terminal svg size 1000,430 dynamic noenhanced font "sans-serif,13" background "#ffffff"
set key at graph 1, 1.09 right horizontal textcolor rgb "#333333"
set xlabel "share of what must be reached (less is better)" textcolor rgb "#333333"
set xrange [0:1.6]
set xtics 0, 0.25, 1
set offsets 0, 0, 0.6, 0.6
set yrange [:] reverse
set lmargin 68
set rmargin 4
set arrow from 1, graph 0 to 1, graph 1 nohead lw 2 lc rgb "#cc3311" front

bars(file, value, must, aim) = sprintf("plot '%s' every ::1 using (column(%d)/column(%d)/2):0:(column(%d)/column(%d)/2):(0.32):ytic(strcol(1)) with boxxyerror lc rgb '#4477aa' title 'measured', '' every ::1 using (column(%d)/column(%d)):0 with points pt 5 ps 0.8 lc rgb '#228833' title 'aim', '' every ::1 using (1.06):0:(sprintf('%%.3g of %%.3g', column(%d), column(%d))) with labels left textcolor rgb '#333333' notitle", file, value, must, value, must, aim, must, value, must)

set title "Whole calls and method: ratios within one run" textcolor rgb "#333333" offset 0, 1
there(file) = int(system("test -s '".file."' && echo 1 || echo 0"))
titles = "'Whole calls and method: ratios within one run' 'kanon_risk against plain grouping' 'kanon_frontier against single runs' 'kanon_full_domain against one grouping' 'Classes of any shape'"
do for [n = 1:5] {
	if (there(dir."/".word("publish risk choosing full_domain cluster", n).".tsv")) {
		set title word(titles, n)
		set output dir."/".word("publish risk choosing full_domain cluster", n).".svg"
		eval(bars(dir."/".word("publish risk choosing full_domain cluster", n).".tsv", 4, 5, 6))
	}
}
if (there(dir."/memory.tsv")) {
	set title "Memory of kanon's own state, bytes per row type"
	set output dir."/memory.svg"
	eval(bars(dir."/memory.tsv", 5, 6, 7))
}

# exact methods: cells lost above the proven bound, per k
reset
set datafile separator "\t"
set terminal svg size 1000,430 dynamic noenhanced font "sans-serif,13" background "#ffffff"
set border 3 lc rgb "#888888"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd"
set logscale x 10
set xrange [1.8:110]
set xtics (2,3,4,5,6,8,10,25,50,100)
set xlabel "k" textcolor rgb "#333333"
set ylabel "cells lost above the proven bound, per cent" textcolor rgb "#333333"
set key top right textcolor rgb "#333333"
set title "Heuristic and exact releases on the paper's cases" textcolor rgb "#333333"
gap(name, c) = strcol(1) eq name && column(6) > 0 ? 100*(column(c)/column(6)-1) : NaN
file = dir."/exact.tsv"
if (there(file)) {
	set output dir."/exact.svg"
	plot file every ::1 using 2:(gap("CMC, 57 patterns", 3)) with linespoints pt 7 lc rgb "#cc3311" title "CMC, 57 patterns: greedy", \
	     '' every ::1 using 2:(gap("CMC, 57 patterns", 4)) with linespoints pt 6 lc rgb "#cc3311" dt 2 title "improve", \
	     '' every ::1 using 2:(gap("CMC, 57 patterns", 5)) with points pt 2 lc rgb "#cc3311" title "ilp", \
	     '' every ::1 using 2:(gap("Adult-2, 15 patterns", 3)) with linespoints pt 7 lc rgb "#4477aa" title "Adult-2, 15 patterns: greedy", \
	     '' every ::1 using 2:(gap("Adult-2, 15 patterns", 4)) with linespoints pt 6 lc rgb "#4477aa" dt 2 title "improve", \
	     '' every ::1 using 2:(gap("Adult-2, 15 patterns", 5)) with points pt 2 lc rgb "#4477aa" title "ilp"
}

# Mondrian against pattern-guided releases: usefulness and GCP by k, a panel per table
file = dir."/section35.tsv"
if (there(file)) {
	reset
	set datafile separator "\t"
	set border 3 lc rgb "#888888"
	set tics nomirror textcolor rgb "#333333"
	set grid y lc rgb "#dddddd"
	set datafile missing NaN
	set logscale x 10
	set xrange [1.8:110]
	set yrange [0:*]
	set xtics (2,3,5,10,25,50,100)
	set xlabel "k" textcolor rgb "#333333"
	set key bottom right textcolor rgb "#333333"
	measures = "usefulness gcp"
	labels = "'usefulness (less is better)' 'GCP, per cent'"
	tables = "Adult Adult-2 Nursery CMC"
	of(name, method, c, scale) = strcol(1) eq name && strcol(3) eq method ? scale * column(c) : NaN
	do for [n = 1:2] {
		shown = n == 1 ? 4 : 9
		times = n == 1 ? 1 : 100
		set terminal svg size 1000,700 dynamic noenhanced font "sans-serif,13" background "#ffffff"
		set output dir."/section35_".word(measures, n).".svg"
		set multiplot layout 2,2
		set ylabel word(labels, n) textcolor rgb "#333333"
		do for [name in tables] {
			set title name textcolor rgb "#333333"
			plot file every ::1 using 2:(of(name, "greedy", shown, times)) with linespoints pt 7 ps 0.6 lc rgb "#cc3311" title "greedy", \
			     '' every ::1 using 2:(of(name, "improve", shown, times)) with linespoints pt 6 ps 0.6 lc rgb "#cc3311" dt 2 title "improve", \
			     '' every ::1 using 2:(of(name, "mondrian", shown, times)) with linespoints pt 7 ps 0.6 lc rgb "#4477aa" title "mondrian", \
			     '' every ::1 using 2:(of(name, "mondrian_relaxed", shown, times)) with linespoints pt 6 ps 0.6 lc rgb "#4477aa" dt 2 title "mondrian_relaxed"
		}
		unset multiplot
	}
}
