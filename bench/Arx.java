/*
 * Arx.java DATA: what ARX (https://arx.deidentifier.org, given as ARX_JAR) makes of the tables that
 * bench/arx.sql gives to kanon, as lines of "case, k, limit, value, milliseconds".  Full-domain: the search alone, as
 * ARX counts it, median of five after three to warm up, the long ones first; value: the metric.  Local recoding: its
 * cell suppression, each value as it is or a star; value: stars.
 */
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.AttributeType.Hierarchy.DefaultHierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public class Arx {
    private static final int WARM = 3, RUNS = 5;
    /* Adult-2: of adult.csv, which has no header */
    private static final int[] ADULT2 = {0, 1, 3, 5, 6, 8, 9, 13, 14};

    private static List<String[]> lines(File file) throws IOException {
        List<String[]> result = new ArrayList<>();
        for (String line : Files.readAllLines(file.toPath(), StandardCharsets.UTF_8))
            if (!line.isEmpty()) result.add(line.split(";", -1));
        return result;
    }

    private static Data data(List<String[]> rows, Hierarchy[] hierarchies) {
        Data data = Data.create(rows);
        for (int i = 0; i < hierarchies.length; i++)
            data.getDefinition().setAttributeType(rows.get(0)[i], hierarchies[i]);
        return data;
    }

    private static ARXConfiguration configuration(int k, double limit, Metric<?> metric) {
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(new KAnonymity(k));
        configuration.setSuppressionLimit(limit);
        configuration.setQualityModel(metric);
        return configuration;
    }

    private static void fullDomain(String folder) throws IOException {
        List<String[]> rows = lines(new File(folder, "adult-arx.csv"));
        Hierarchy[] hierarchies = new Hierarchy[rows.get(0).length];
        for (int i = 0; i < hierarchies.length; i++) {
            List<String[]> levels = lines(new File(folder, "adult-hierarchies/" + rows.get(0)[i] + ".csv"));
            /* its loss counts the values of the hierarchy, which has ages that nobody is of; kanon's those of the data */
            Set<String> values = new HashSet<>();
            for (String[] row : rows.subList(1, rows.size())) values.add(row[i]);
            levels.removeIf(level -> !values.contains(level[0]));
            hierarchies[i] = Hierarchy.create(levels.toArray(new String[0][]));
        }
        /* (those without suppressed rows take so little time that all code should be compiled before) */
        for (double limit : new double[] {0.05, 0})
            for (String metric : new String[] {"loss", "discernibility"})
                for (int k : new int[] {2, 5, 10}) {
                    long[] times = new long[RUNS];
                    String value = "";
                    for (int run = -WARM; run < RUNS; run++) {
                        Data data = data(rows, hierarchies);
                        Metric<?> model = metric.equals("loss")
                                ? Metric.createLossMetric(Metric.AggregateFunction.ARITHMETIC_MEAN)
                                : Metric.createDiscernabilityMetric();
                        ARXResult result = new ARXAnonymizer().anonymize(data, configuration(k, limit, model));
                        if (run >= 0) times[run] = result.getTime();
                        value = result.isResultAvailable() ? result.getGlobalOptimum().getHighestScore().toString() : "";
                        data.getHandle().release();
                    }
                    Arrays.sort(times);
                    System.out.println(String.join("\t", metric, "" + k, "" + limit, value, "" + times[RUNS / 2]));
                }
    }

    private static void localRecoding(String folder) throws Exception {
        List<String[]> rows = new ArrayList<>();
        String[] header = new String[ADULT2.length];
        Hierarchy[] hierarchies = new Hierarchy[ADULT2.length];
        for (int i = 0; i < ADULT2.length; i++) header[i] = "q" + i;
        rows.add(header);
        for (String[] line : lines(new File(folder, "adult.csv"))) {
            String[] row = new String[ADULT2.length];
            for (int i = 0; i < ADULT2.length; i++) row[i] = line[ADULT2[i]];
            rows.add(row);
        }
        for (int i = 0; i < ADULT2.length; i++) {
            DefaultHierarchy hierarchy = Hierarchy.create();
            Set<String> seen = new HashSet<>();
            for (String[] row : rows.subList(1, rows.size()))
                if (seen.add(row[i])) hierarchy.add(row[i], "*");
            hierarchies[i] = hierarchy;
        }
        for (int k : new int[] {2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100}) {
            Data data = data(rows, hierarchies);
            ARXResult result = new ARXAnonymizer().anonymize(data, configuration(k, 0.99, Metric.createLossMetric(0d)));
            DataHandle output = result.getOutput();
            long since = System.currentTimeMillis();
            long stars = 0;
            if (result.isOptimizable(output)) result.optimizeIterativeFast(output, 0.01);
            long time = result.getTime() + System.currentTimeMillis() - since;
            Iterator<String[]> it = output.iterator();
            it.next();
            while (it.hasNext())
                for (String value : it.next()) if (value.equals("*")) stars++;
            System.out.println(String.join("\t", "cells", "" + k, "", "" + stars, "" + time));
            data.getHandle().release();
        }
    }

    public static void main(String[] args) throws Exception {
        fullDomain(args[0]);
        localRecoding(args[0]);
    }
}
